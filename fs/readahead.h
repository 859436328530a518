// readahead.h: the kernel's read-ahead window of a mount. INIT can only lower it; above 128 KiB only root's write to sysfs leads.
// Layer:  fs (6).
// Errors: not_found (no such mount), io.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace vouchfs::fs {

// "0:57": the device of the topmost mount on this absolute path, from /proc/self/mountinfo, without asking the mount itself.
std::optional<std::string> device_of_mount(const std::string& mount_point);
// Path of the knob, for a message to somebody who is not root.
std::string readahead_knob(const std::string& device);
Result<std::uint64_t> read_readahead_kb(const std::string& device);
Status write_readahead_kb(const std::string& device, std::uint64_t kb);

}  // namespace vouchfs::fs
