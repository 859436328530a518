# Installs the command, the mount helpers, the libraries, their headers, the CMake package and the man pages.
# find_package(vouchfs) gives vouchfs::core and one target a folder of core/; FUSE is never part of the package.
include(CMakePackageConfigHelpers)

get_property(_vouchfs_modules GLOBAL PROPERTY VOUCHFS_CORE_MODULES)
set(_vouchfs_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vouchfs)
set(_vouchfs_exported vouchfs_core)
foreach(_module IN LISTS _vouchfs_modules)
  list(APPEND _vouchfs_exported vouchfs_${_module})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/core/${_module} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/vouchfs COMPONENT dev FILES_MATCHING PATTERN "*.h")
endforeach()
install(TARGETS ${_vouchfs_exported} EXPORT vouchfs_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(EXPORT vouchfs_targets NAMESPACE vouchfs:: FILE vouchfs-targets.cmake DESTINATION ${_vouchfs_package_dir} COMPONENT dev)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/vouchfs-config.cmake.in ${PROJECT_BINARY_DIR}/package/vouchfs-config.cmake
  INSTALL_DESTINATION ${_vouchfs_package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/vouchfs-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/vouchfs-config.cmake ${PROJECT_BINARY_DIR}/package/vouchfs-config-version.cmake
  DESTINATION ${_vouchfs_package_dir} COMPONENT dev)

if(TARGET vouchfs)
  install(TARGETS vouchfs RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
  # mount(8) looks for mount.TYPE in /sbin only: with the prefix /usr these are found as they are; elsewhere link them there.
  file(RELATIVE_PATH _vouchfs_from_sbin ${CMAKE_INSTALL_FULL_SBINDIR} ${CMAKE_INSTALL_FULL_BINDIR}/vouchfs)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/package)
  foreach(_helper IN ITEMS mount.vouchfs mount.fuse.vouchfs)
    file(CREATE_LINK ${_vouchfs_from_sbin} ${PROJECT_BINARY_DIR}/package/${_helper} SYMBOLIC)
    install(FILES ${PROJECT_BINARY_DIR}/package/${_helper} DESTINATION ${CMAKE_INSTALL_SBINDIR} COMPONENT runtime)
  endforeach()
  foreach(_section IN ITEMS 1 5 8)
    file(GLOB _vouchfs_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.${_section})
    if(_vouchfs_pages)
      install(FILES ${_vouchfs_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${_section} COMPONENT runtime)
    endif()
  endforeach()
endif()
