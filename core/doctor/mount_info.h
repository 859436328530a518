// mount_info.h: which mount a file lies on. Internal to core/doctor.
// Layer: core/doctor (5).
#pragma once

#include <istream>
#include <optional>
#include <string>

namespace vouchfs::doctor {

struct MountEntry {
  std::string point;   // as mountinfo writes it: blanks are \040
  std::string type;    // "nfs4", "fuse.sshfs"
  std::string source;  // "server:/export"
};
// The entry of /proc/self/mountinfo for this device, the last one when several are mounted of it.
std::optional<MountEntry> find_mount(std::istream& mountinfo, unsigned device_major, unsigned device_minor);

}  // namespace vouchfs::doctor
