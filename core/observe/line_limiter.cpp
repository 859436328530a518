#include "observe/line_limiter.h"

#include <utility>

namespace vouchfs::observe {

LineLimiter::Answer LineLimiter::ask(Clock::time_point now) noexcept {
  if (written_ == 0 || now - second_ >= std::chrono::seconds(1)) {
    second_ = now;
    written_ = 0;
  }
  if (written_ >= limit_) {
    ++held_back_;
    return {Verdict::hold_back, 0};
  }
  ++written_;
  return {written_ == limit_ ? Verdict::write_last : Verdict::write, take_held_back()};
}

std::uint64_t LineLimiter::take_held_back() noexcept { return std::exchange(held_back_, 0); }

}  // namespace vouchfs::observe
