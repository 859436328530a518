#include "ingest/file_reader.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>

#include "base/file.h"
#include "base/units.h"

namespace vouchfs::ingest {
namespace {

constexpr std::uint64_t kSamples = 64;

// The same open file by another descriptor. It may have lost its name meanwhile, so it is not opened by that.
UniqueFd reopen_direct(int fd) {
  const std::string same = "/proc/self/fd/" + std::to_string(fd);
  return UniqueFd(::open(same.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
}

}  // namespace

// By mincore(2), which looks at the page cache and reads nothing.
bool mostly_cached(int fd, std::uint64_t file_bytes) {
  const auto length = static_cast<std::size_t>(file_bytes);
  if (length == 0) return true;
  void* const mapped = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
  if (mapped == MAP_FAILED) return false;
  auto* const pages = static_cast<std::uint8_t*>(mapped);
  std::uint64_t cached = 0;
  for (std::uint64_t sample = 0; sample < kSamples; ++sample) {
    unsigned char in_cache = 0;
    const std::uint64_t block = blocks_for(file_bytes) * sample / kSamples;
    if (::mincore(pages + block * kBlockBytes, 1, &in_cache) == 0) cached += in_cache & 1U;
  }
  ::munmap(mapped, length);
  return cached >= kSamples / 2;
}

FileReader::FileReader(int fd, std::uint64_t file_bytes, std::string shown) : fd_(fd), shown_(std::move(shown)) {
  if (file_bytes >= kDirectBytes && !mostly_cached(fd, file_bytes)) direct_ = reopen_direct(fd);
  // Behind direct reads only a header is wanted from the cache, not what lies around it.
  ::posix_fadvise(fd, 0, 0, direct() ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL);
}

Result<std::size_t> FileReader::read(std::uint64_t offset, std::span<std::uint8_t> dst) const {
  std::size_t came = 0;
  if (direct()) {
    ssize_t got = 0;
    do got = ::pread(direct_.get(), dst.data(), dst.size(), static_cast<off_t>(offset));
    while (got < 0 && errno == EINTR);
    if (got > 0) came = static_cast<std::size_t>(got);
  }
  // The end of the file, a cut read, a filesystem that refuses only now, or a fault: the usual way goes on, and tells which.
  if (came < dst.size()) {
    VOUCHFS_ASSIGN(const std::size_t rest, read_full(fd_, offset + came, dst.subspan(came), shown_));
    came += rest;
  }
  return came;
}

}  // namespace vouchfs::ingest
