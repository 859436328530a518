#include "fs/mount_table.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace vouchfs::fs {
namespace {

// proc(5): blank, tab, newline and backslash are written as three octal digits.
std::string unescape(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool octal = text[i] == '\\' && i + 3 < text.size();
    if (!octal) {
      out.push_back(text[i]);
      continue;
    }
    out.push_back(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0')));
    i += 3;
  }
  return out;
}

// "36 35 98:0 /root /mnt opts optional… - type source super"
std::optional<MountRow> parse_row(const std::string& line) {
  std::istringstream fields(line);
  MountRow row;
  std::string parent, root, options, word;
  if (!(fields >> row.id >> parent >> row.device >> root >> row.mount_point >> options)) return std::nullopt;
  while (fields >> word && word != "-") {
  }
  if (!(fields >> row.type >> row.source)) return std::nullopt;
  row.mount_point = unescape(row.mount_point);
  row.source = unescape(row.source);
  return row;
}

}  // namespace

std::vector<MountRow> read_mount_table() {
  std::vector<MountRow> rows;
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);)
    if (auto row = parse_row(line)) rows.push_back(std::move(*row));
  return rows;
}

std::optional<MountRow> find_mount(const std::string& mount_point) {
  std::optional<MountRow> found;
  for (MountRow& row : read_mount_table())
    if (row.mount_point == mount_point) found = std::move(row);  // later rows lie on top
  return found;
}

void abort_connection(const std::string& device) {
  std::ofstream knob("/sys/fs/fuse/connections/" + device.substr(device.find(':') + 1) + "/abort");
  knob << "1" << std::flush;
}

std::string resolve_mount_point(const std::string& path) {
  namespace stdfs = std::filesystem;
  std::error_code failed;
  stdfs::path absolute = stdfs::absolute(path, failed).lexically_normal();
  if (failed) return path;
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  if (find_mount(absolute.string())) return absolute.string();
  const stdfs::path parent = stdfs::canonical(absolute.parent_path(), failed);
  if (failed) return absolute.string();
  const stdfs::path with_parent = parent / absolute.filename();
  if (find_mount(with_parent.string())) return with_parent.string();
  const stdfs::path resolved = stdfs::canonical(absolute, failed);
  return failed ? with_parent.string() : resolved.string();
}

}  // namespace vouchfs::fs
