#include "source/posix_source.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/file.h"
#include "base/units.h"

namespace vouchfs::source {
namespace {

// What a buffered read left in the page cache is a second copy of what the reader's cache will hold: let it go.
void drop_from_cache(int fd, std::uint64_t offset, std::size_t length) {
  ::posix_fadvise(fd, static_cast<off_t>(offset), static_cast<off_t>(length), POSIX_FADV_DONTNEED);
}

bool ends_at(int fd, std::uint64_t offset) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && static_cast<std::uint64_t>(info.st_size) <= offset;
}

}  // namespace

PosixSource::PosixSource(std::shared_ptr<const SourceRoot> root, std::string relative, std::string shown_name, std::shared_ptr<HandlePool> pool)
    : root_(std::move(root)), relative_(std::move(relative)), name_(std::move(shown_name)), pool_(std::move(pool)) {}

Result<HandlePtr> PosixSource::open_handle(bool direct) const {
  VOUCHFS_ASSIGN(UniqueFd fd, root_->open_file(relative_, direct ? O_DIRECT : 0));
  return std::make_shared<const Handle>(Handle{std::move(fd), direct});
}

Result<HandlePtr> PosixSource::handle(bool anew) {
  if (!anew) {
    const std::scoped_lock lock(mutex_);
    if (HandlePtr open = handle_.lock()) return open;
  }
  auto opened = open_handle(true);
  // EINVAL is how a filesystem without direct I/O answers O_DIRECT.
  if (!opened && opened.error().sys_errno == EINVAL) opened = open_handle(false);
  if (!opened) return opened;
  pool_->keep(*opened);
  const std::scoped_lock lock(mutex_);
  handle_ = *opened;
  return opened;
}

Result<std::size_t> PosixSource::read(std::uint64_t offset, std::span<std::uint8_t> dst, Freshness freshness) {
  const bool anew = freshness == Freshness::past_cache;
  VOUCHFS_ASSIGN(HandlePtr file, handle(anew));
  if (anew && !file->direct) drop_from_cache(file->fd.get(), offset, dst.size());
  auto got = read_with(*file, offset, dst);
  if (!got && got.error().sys_errno == ESTALE) {  // replaced on the server: what the path names now may be right
    VOUCHFS_ASSIGN(file, handle(true));
    got = read_with(*file, offset, dst);
  }
  return got;
}

Result<std::size_t> PosixSource::read_with(const Handle& handle, std::uint64_t offset, std::span<std::uint8_t> dst) const {
  if (handle.direct) return read_direct(handle, offset, dst);
  auto got = read_full(handle.fd.get(), offset, dst, relative_);
  drop_from_cache(handle.fd.get(), offset, dst.size());
  return got;
}

Result<std::size_t> PosixSource::read_direct(const Handle& handle, std::uint64_t offset, std::span<std::uint8_t> dst) const {
  std::size_t done = 0;
  while (done < dst.size()) {
    const ssize_t got = ::pread(handle.fd.get(), dst.data() + done, dst.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != EINVAL) return fail(errno_error(errno, "cannot read", relative_));
    if (got == 0) return done;
    const std::size_t came = got < 0 ? 0 : static_cast<std::size_t>(got);
    if (came % kBlockBytes != 0 && ends_at(handle.fd.get(), offset + done + came)) return done + came;
    // A direct read can only go on from a whole block; what came of a cut one is read again.
    done += came / kBlockBytes * kBlockBytes;
    if (came < kBlockBytes) {
      VOUCHFS_ASSIGN(const std::size_t rest, read_buffered(offset + done, dst.subspan(done)));
      return done + rest;
    }
  }
  return done;
}

Result<std::size_t> PosixSource::read_buffered(std::uint64_t offset, std::span<std::uint8_t> dst) const {
  VOUCHFS_ASSIGN(const HandlePtr file, open_handle(false));
  return read_with(*file, offset, dst);
}

Result<Stamp> PosixSource::stamp() {
  VOUCHFS_ASSIGN(const HandlePtr file, open_handle(false));
  struct stat info {};
  if (::fstat(file->fd.get(), &info) != 0) return fail(errno_error(errno, "cannot stat", relative_));
  return Stamp{static_cast<std::uint64_t>(info.st_size), info.st_ino, info.st_dev,
               static_cast<std::int64_t>(info.st_ctim.tv_sec) * 1'000'000'000 + info.st_ctim.tv_nsec};
}

}  // namespace vouchfs::source
