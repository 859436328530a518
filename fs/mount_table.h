// mount_table.h: /proc/self/mountinfo: what is mounted where, without touching a mount that might be dead.
// Layer: fs (6).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vouchfs::fs {

struct MountRow {
  std::uint64_t id = 0;
  std::string device;       // "0:57"
  std::string mount_point;  // unescaped
  std::string type;         // "fuse.vouchfs"
  std::string source;       // unescaped
};

std::vector<MountRow> read_mount_table();
// The topmost mount on exactly this absolute path, or nullopt.
std::optional<MountRow> find_mount(const std::string& mount_point);
// Ends the FUSE connection of a device, whose waiting requests then fail. Only root may.
void abort_connection(const std::string& device);
// Absolute path of a mount point with its parent's links resolved, without asking what is mounted there.
std::string resolve_mount_point(const std::string& path);

}  // namespace vouchfs::fs
