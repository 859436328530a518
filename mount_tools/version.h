// version.h: the version of this build.
// Layer: mount_tools (7).
#pragma once

namespace vouchfs::mount_tools {

// "0.1.0", from CMakeLists.txt.
const char* version() noexcept;

}  // namespace vouchfs::mount_tools
