#include "fs/readahead.h"

#include <fcntl.h>

#include <charconv>
#include <fstream>
#include <sstream>

#include "base/file.h"
#include "fs/mount_table.h"

namespace vouchfs::fs {

std::optional<std::string> device_of_mount(const std::string& mount_point) {
  const auto row = find_mount(mount_point);
  return row ? std::optional(row->device) : std::nullopt;
}

std::string readahead_knob(const std::string& device) { return "/sys/class/bdi/" + device + "/read_ahead_kb"; }

Result<std::uint64_t> read_readahead_kb(const std::string& device) {
  const std::string path = readahead_knob(device);
  std::ifstream file(path);
  std::uint64_t kb = 0;
  if (!(file >> kb)) return fail(ErrorCode::io, "cannot be read", path);
  return kb;
}

Status write_readahead_kb(const std::string& device, std::uint64_t kb) {
  const std::string path = readahead_knob(device);
  VOUCHFS_ASSIGN(const UniqueFd fd, open_at(AT_FDCWD, path, O_WRONLY, path));
  const std::string text = std::to_string(kb);
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return fail(errno_error(errno, "cannot be set", path));
  return {};
}

}  // namespace vouchfs::fs
