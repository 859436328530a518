// file_reader.h: the bytes of an open file; those of a large one past the page cache, when it does not hold them anyhow.
// Layer:   core/ingest (5).
// Owns:    a second descriptor of the same file when it reads with O_DIRECT; borrows the first.
// Threads: const after construction; safe for concurrent calls.
// Errors:  io with errno and the name.
// Cost:    construction looks at a few pages of the cache; a read is one system call, and copies only what comes from the cache.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace vouchfs::ingest {

inline constexpr std::uint64_t kDirectBytes = 8U << 20;  // a smaller file is read through the page cache: it fills little of it

// True when at least half of a file's pages, by sample, are in the page cache.
bool mostly_cached(int fd, std::uint64_t file_bytes);

class FileReader {
 public:
  // Through the page cache goes also a file that is mostly there, and one whose filesystem has no direct I/O. `shown` names it in errors.
  FileReader(int fd, std::uint64_t file_bytes, std::string shown);
  bool direct() const noexcept { return direct_.valid(); }
  // offset and dst: whole blocks, dst aligned to one. Returns the bytes read: fewer only where the file ends.
  Result<std::size_t> read(std::uint64_t offset, std::span<std::uint8_t> dst) const;

 private:
  const int fd_;
  const std::string shown_;
  UniqueFd direct_;
};

}  // namespace vouchfs::ingest
