// rate_limit.h: shares out a number of bytes a second among all threads of a run, smoothly: `--rate`.
// Layer:   core/base (0).
// Threads: safe for concurrent calls; nothing is locked while a thread waits.
// Cost:    a short lock for each take(); an unlimited one only a comparison.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>

#include "base/result.h"

namespace vouchfs {

// What waiting needs of time; a test brings its own.
struct RateClock {
  std::function<std::chrono::nanoseconds()> now;  // from any fixed start, never backwards
  std::function<void(std::chrono::nanoseconds)> sleep_for;
};
RateClock steady_rate_clock();

class RateLimit {
 public:
  // Time left unused counts this long at most: what reading and hashing took is made up for, a long pause is not.
  static constexpr std::chrono::milliseconds kCredit{100};

  // bytes_per_second 0: no limit.
  explicit RateLimit(std::uint64_t bytes_per_second, RateClock clock = steady_rate_clock());

  // Returns when `bytes` more may be read. `going` is asked at least every 50 ms. Fails: as `going` does.
  Status take(std::uint64_t bytes, const std::function<Status()>& going);

 private:
  std::chrono::nanoseconds reserve(std::uint64_t bytes);
  const std::uint64_t bytes_per_second_;
  const RateClock clock_;
  std::mutex mutex_;
  std::chrono::nanoseconds reserved_until_{0};  // guarded by mutex_
};

}  // namespace vouchfs
