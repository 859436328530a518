#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace vouchfs {

Result<UniqueFd> open_at(int dir_fd, const std::string& path, int flags, const std::string& shown, unsigned mode) {
  int fd = -1;
  do {
    fd = ::openat(dir_fd, path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return fail(errno_error(errno, "cannot open", shown));
  return UniqueFd(fd);
}

Result<std::size_t> read_full(int fd, std::uint64_t offset, std::span<std::uint8_t> dst, const std::string& shown) {
  std::size_t done = 0;
  while (done < dst.size()) {
    const ssize_t got = ::pread(fd, dst.data() + done, dst.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      Error error = errno_error(errno, "cannot read", shown);
      error.where.offset = offset + done;
      return fail(std::move(error));
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Result<std::string> read_whole_file(int dir_fd, const std::string& path, std::uint64_t limit, const std::string& shown) {
  VOUCHFS_ASSIGN(const UniqueFd fd, open_at(dir_fd, path, O_RDONLY | O_NONBLOCK, shown));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail(errno_error(errno, "cannot stat", shown));
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::bad_format, "is not a regular file", shown);
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > limit) return fail(ErrorCode::bad_format, "is " + std::to_string(size) + " bytes long; at most " + std::to_string(limit) + " are read", shown);
  std::string text(static_cast<std::size_t>(size), '\0');
  VOUCHFS_ASSIGN(const std::size_t got, read_full(fd.get(), 0, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}, shown));
  text.resize(got);
  return text;
}

Status write_full(int fd, std::uint64_t offset, std::span<const std::uint8_t> src, const std::string& shown) {
  std::size_t done = 0;
  while (done < src.size()) {
    const ssize_t put = ::pwrite(fd, src.data() + done, src.size() - done, static_cast<off_t>(offset + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail(errno_error(errno, "cannot write", shown));
    done += static_cast<std::size_t>(put);
  }
  return {};
}

Status sync_fd(int fd, const std::string& shown) {
  if (::fsync(fd) != 0) return fail(errno_error(errno, "cannot sync", shown));
  return {};
}

}  // namespace vouchfs
