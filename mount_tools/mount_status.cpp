#include "mount_tools/mount_status.h"

#include <fcntl.h>

#include <array>
#include <cerrno>

#include "base/file.h"
#include "fs/mount_table.h"

namespace vouchfs::mount_tools {
namespace {

constexpr std::size_t kMaxStatusBytes = 256U << 20;

}  // namespace

bool is_vouchfs_mount(const std::string& path) {
  const auto row = fs::find_mount(fs::resolve_mount_point(path));
  return row && row->type == "fuse.vouchfs";
}

Result<std::string> read_mount_status(const std::string& mount_point) {
  if (!is_vouchfs_mount(mount_point)) return fail(ErrorCode::mount_failed, "is no mount of vouchfs", mount_point, "see the mounts with: findmnt -t fuse.vouchfs");
  const std::string path = mount_point + "/.vouch/status.json";
  auto fd = open_at(AT_FDCWD, path, O_RDONLY, path);
  if (!fd) {
    Error error = fd.error();
    error.code = ErrorCode::mount_failed;
    if (error.sys_errno == ENOTCONN) error.advice = "its daemon is gone; end it with: vouchfs umount " + mount_point;
    return fail(std::move(error));
  }
  // A file that is made when read tells no size: read to its end.
  std::string text;
  std::array<std::uint8_t, 65536> piece;
  for (;;) {
    VOUCHFS_ASSIGN(const std::size_t got, read_full(fd->get(), text.size(), piece, path));
    text.append(reinterpret_cast<const char*>(piece.data()), got);
    if (got < piece.size()) return text;
    if (text.size() > kMaxStatusBytes) return fail(ErrorCode::bad_format, "does not end", path);
  }
}

}  // namespace vouchfs::mount_tools
