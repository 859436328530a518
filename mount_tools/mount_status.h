// mount_status.h: asks a mount for its status.
// Layer:  mount_tools (7).
// Errors: mount_failed (no mount of vouchfs, or a dead one), io.
#pragma once

#include <string>

#include "base/result.h"

namespace vouchfs::mount_tools {

// Whether a mount of vouchfs lies on this path, or did and is dead.
bool is_vouchfs_mount(const std::string& path);
// The text of MOUNTPOINT/.vouch/status.json. A path inside a mount is no mount point.
Result<std::string> read_mount_status(const std::string& mount_point);

}  // namespace vouchfs::mount_tools
