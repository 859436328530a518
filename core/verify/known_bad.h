// known_bad.h: the blocks of one file that failed and were not seen right since, so that the kernel's page-wise retries of a failed
// window cost no second disk read and no second log line.
// Layer:   core/verify (3).
// Threads: safe for concurrent calls, guarded by mutex_; any() and count() take no lock.
// Memory:  at most kMost entries a file, about 200 bytes each; blocks past that are read anew each time, which is slower and as right.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "source/block_source.h"
#include "verify/verified_file.h"

namespace vouchfs::verify {

class KnownBadTable {
 public:
  static constexpr std::size_t kMost = 65536;
  // For reads an entry holds this long at most (DESIGN section 4), or until the source's stamp changes.
  static constexpr std::chrono::milliseconds kHolds{1000};
  using Clock = std::chrono::steady_clock;

  bool any() const noexcept { return count() != 0; }
  std::size_t count() const noexcept { return size_.load(std::memory_order_acquire); }
  // The first entry of the range that still holds: young enough. The caller then compares the stamp with the source's.
  struct Held {
    BadBlock bad;
    std::optional<source::Stamp> stamp;  // of the source when it failed; absent when it could not be told
  };
  std::optional<Held> find(std::uint64_t first, std::uint64_t count, Clock::time_point now) const;
  void insert(const BadBlock& bad, const std::optional<source::Stamp>& stamp, Clock::time_point now);
  // Forgets the blocks of the range: they were read right.
  void erase(std::uint64_t first, std::uint64_t count);
  // All block numbers, in order.
  std::vector<std::uint64_t> blocks() const;

 private:
  struct Entry {
    Held held;
    Clock::time_point since;
  };
  std::atomic<std::size_t> size_{0};
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Entry> entries_;  // guarded by mutex_; by block
};

}  // namespace vouchfs::verify
