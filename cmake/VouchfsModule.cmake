# vouchfs_module(NAME SOURCES ... [DEPENDS folder ...] [PUBLIC_LIBS ...] [PRIVATE_LIBS ...])
# One static library per folder, alias vouchfs::NAME, linked along the layers. The ranks are data
# (cmake/layers.txt); a DEPENDS of equal or higher rank stops the configuration.

file(STRINGS "${PROJECT_SOURCE_DIR}/cmake/layers.txt" _vouchfs_layer_lines REGEX "^[a-z_]+[ \t]+[0-9]+")
set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/layers.txt")
foreach(_line IN LISTS _vouchfs_layer_lines)
  string(REGEX MATCH "^([a-z_]+)[ \t]+([0-9]+)" _ "${_line}")
  set(VOUCHFS_RANK_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()

function(vouchfs_check_rank name dependency)
  foreach(folder IN ITEMS ${name} ${dependency})
    if(NOT DEFINED VOUCHFS_RANK_${folder})
      message(FATAL_ERROR "layers: ${folder} has no rank in cmake/layers.txt")
    endif()
  endforeach()
  if(NOT VOUCHFS_RANK_${dependency} LESS VOUCHFS_RANK_${name})
    message(FATAL_ERROR "layers: ${name} (rank ${VOUCHFS_RANK_${name}}) may not use ${dependency} (rank ${VOUCHFS_RANK_${dependency}})")
  endif()
endfunction()

function(vouchfs_module name)
  cmake_parse_arguments(M "" "" "SOURCES;DEPENDS;PUBLIC_LIBS;PRIVATE_LIBS" ${ARGN})
  add_library(vouchfs_${name} STATIC ${M_SOURCES})
  add_library(vouchfs::${name} ALIAS vouchfs_${name})
  set_target_properties(vouchfs_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(vouchfs_${name} PUBLIC cxx_std_20)
  target_include_directories(vouchfs_${name} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/core>" "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/vouchfs>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  foreach(dependency IN LISTS M_DEPENDS)
    vouchfs_check_rank(${name} ${dependency})
    target_link_libraries(vouchfs_${name} PUBLIC vouchfs_${dependency})
  endforeach()
  target_link_libraries(vouchfs_${name} PUBLIC ${M_PUBLIC_LIBS} PRIVATE "$<BUILD_INTERFACE:vouchfs_warnings>" ${M_PRIVATE_LIBS})
  # Folders of core/ are installed and exported; fs and mount_tools are parts of the command only.
  if("${CMAKE_CURRENT_SOURCE_DIR}" STREQUAL "${PROJECT_SOURCE_DIR}/core/${name}")
    set_property(GLOBAL APPEND PROPERTY VOUCHFS_CORE_MODULES ${name})
  endif()
endfunction()
