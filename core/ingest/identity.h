// identity.h: what tells that a file is the same and untouched: compared before and after reading, never trusted instead of reading.
// Layer: core/ingest (5). Plain values.
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace vouchfs::ingest {

struct FileIdentity {
  std::uint64_t bytes = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  bool operator==(const FileIdentity&) const = default;
};

FileIdentity identity_of(const struct stat& info) noexcept;
// Nanoseconds since 1970 by the clock that file times use.
std::int64_t now_ns() noexcept;
// File times move in ticks of the kernel's clock (at most 10 ms): two writes in one tick look alike. Returns when the last
// change of the file is surely more than a tick ago, so that every later write shows. Waits 20 ms at most, and only
// for a file that was written this very moment.
void wait_out_tick(const FileIdentity& identity) noexcept;

}  // namespace vouchfs::ingest
