#include "base/rate_limit.h"

#include <algorithm>
#include <thread>

namespace vouchfs {
namespace {

using std::chrono::nanoseconds;
constexpr nanoseconds kNap = std::chrono::milliseconds(50);  // an interruption waits no longer than this

nanoseconds time_for(std::uint64_t bytes, std::uint64_t bytes_per_second) {
  return std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(static_cast<double>(bytes) / static_cast<double>(bytes_per_second)));
}

}  // namespace

RateClock steady_rate_clock() {
  return {[] { return std::chrono::duration_cast<nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()); },
          [](nanoseconds time) { std::this_thread::sleep_for(time); }};
}

RateLimit::RateLimit(std::uint64_t bytes_per_second, RateClock clock) : bytes_per_second_(bytes_per_second), clock_(std::move(clock)) {
  reserved_until_ = clock_.now();
}

nanoseconds RateLimit::reserve(std::uint64_t bytes) {
  const nanoseconds now = clock_.now();
  const std::lock_guard lock(mutex_);
  reserved_until_ = std::max(reserved_until_, now - kCredit) + time_for(bytes, bytes_per_second_);
  return reserved_until_;
}

Status RateLimit::take(std::uint64_t bytes, const std::function<Status()>& going) {
  if (bytes_per_second_ == 0) return {};
  const nanoseconds until = reserve(bytes);
  for (nanoseconds now = clock_.now(); now < until; now = clock_.now()) {
    VOUCHFS_TRY(going());
    clock_.sleep_for(std::min(kNap, until - now));
  }
  return {};
}

}  // namespace vouchfs
