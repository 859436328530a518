// mount_holders.h: which processes keep a mount busy, read from /proc without touching the mount.
// Layer: mount_tools (7).
#pragma once

#include <string>
#include <vector>

namespace vouchfs::mount_tools {

// "1234 (python3)" for each process with an open file, a mapping or its folder below this mount point; only what the caller may see.
std::vector<std::string> holders_of(const std::string& mount_point);

}  // namespace vouchfs::mount_tools
