#include "mount_tools/page_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace vouchfs::mount_tools {
namespace {

// include/uapi/linux/mman.h, Linux 6.5; headers of Debian 12 do not have it. The number is the same on every architecture.
constexpr long kCachestat = 451;
struct CachestatRange {
  std::uint64_t offset;
  std::uint64_t length;
};
struct Cachestat {
  std::uint64_t cached;
  std::uint64_t dirty;
  std::uint64_t writeback;
  std::uint64_t evicted;
  std::uint64_t recently_evicted;
};

constexpr std::uint64_t kWindow = 1ULL << 30;  // mapped at a time for mincore(2)

std::uint64_t page_size() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

Error not_told(const std::string& shown) {
  return make_error(ErrorCode::unsupported, "the kernel does not tell this user what the page cache holds of it", shown,
                    "ask as root or as the owner of the file");
}

// mincore(2) says "all of it" to those it does not trust, so they are not asked on their behalf.
bool may_use_mincore(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && (::geteuid() == 0 || ::geteuid() == info.st_uid);
}

Result<std::uint64_t> pages_in_window(int fd, ByteRange window, const std::string& shown) {
  void* const at = ::mmap(nullptr, window.bytes(), PROT_READ, MAP_SHARED, fd, static_cast<off_t>(window.begin));
  if (at == MAP_FAILED) return fail(errno_error(errno, "cannot be mapped", shown));
  std::vector<unsigned char> pages((window.bytes() + page_size() - 1) / page_size());
  const int failed_with = ::mincore(at, window.bytes(), pages.data()) == 0 ? 0 : errno;
  ::munmap(at, window.bytes());
  if (failed_with != 0) return fail(errno_error(failed_with, "mincore", shown));
  return static_cast<std::uint64_t>(std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; }));
}

Result<std::uint64_t> pages_by_mincore(int fd, ByteRange range, const std::string& shown) {
  if (!may_use_mincore(fd)) return fail(not_told(shown));
  std::uint64_t pages = 0;
  for (std::uint64_t at = range.begin / page_size() * page_size(); at < range.end; at += kWindow) {
    VOUCHFS_ASSIGN(const std::uint64_t found, pages_in_window(fd, {at, std::min(range.end, at + kWindow)}, shown));
    pages += found;
  }
  return pages;
}

Result<std::uint64_t> pages_of(int fd, ByteRange range, const std::string& shown) {
  CachestatRange wanted{range.begin, range.bytes()};
  Cachestat found{};
  if (::syscall(kCachestat, fd, &wanted, &found, 0U) == 0) return found.cached;
  if (errno == EPERM || errno == EACCES) return fail(not_told(shown));
  if (errno == ENOSYS || errno == EOPNOTSUPP) return pages_by_mincore(fd, range, shown);
  return fail(errno_error(errno, "cachestat", shown));
}

}  // namespace

Result<std::uint64_t> resident_bytes(int fd, ByteRange range, const std::string& shown) {
  if (range.bytes() == 0) return std::uint64_t{0};  // cachestat(2) takes length 0 for "to the end"
  VOUCHFS_ASSIGN(const std::uint64_t pages, pages_of(fd, range, shown));
  return std::min(pages * page_size(), range.bytes());
}

Status drop_pages(int fd, ByteRange range, const std::string& shown) {
  if (range.bytes() == 0) return {};  // likewise posix_fadvise(2)
  const int failed_with = ::posix_fadvise(fd, static_cast<off_t>(range.begin), static_cast<off_t>(range.bytes()), POSIX_FADV_DONTNEED);
  if (failed_with != 0) return fail(errno_error(failed_with, "cannot be dropped from the page cache", shown));
  return {};
}

}  // namespace vouchfs::mount_tools
