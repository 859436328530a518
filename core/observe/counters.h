// counters.h: what a mount counts. Each is one atomic; readers get a snapshot, not a consistent cut.
// Layer: core/observe (1). Threads: safe for concurrent calls without locks.
#pragma once

#include <atomic>
#include <cstdint>

namespace vouchfs::observe {

struct Counters {
  std::atomic<std::uint64_t> requests{0};          // FUSE requests of any kind
  std::atomic<std::uint64_t> reads{0};             // READ requests
  std::atomic<std::uint64_t> bytes_served{0};      // bytes given to readers, or put into pinned memory
  std::atomic<std::uint64_t> bytes_verified{0};    // bytes hashed and found right
  std::atomic<std::uint64_t> corrupt_blocks{0};    // blocks that failed, repeats from the known-bad table aside
  std::atomic<std::uint64_t> failed_reads{0};      // READ requests answered with EIO
  std::atomic<std::uint64_t> refused_opens{0};     // opens answered with EIO
  std::atomic<std::uint64_t> transient{0};         // blocks wrong at first and right when read past the cache
  std::atomic<std::uint64_t> tree_cache_hits{0};   // tree blocks found verified in memory
  std::atomic<std::uint64_t> tree_cache_misses{0};  // tree blocks read and hashed
  std::atomic<std::uint64_t> neighbour_hits{0};    // blocks answered from a failed window's verified neighbours
};

}  // namespace vouchfs::observe
