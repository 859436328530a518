// line_limiter.h: how many log lines a second may be written; the rest is counted and told afterwards.
// Layer:   core/observe (1). Pure: the clock's reading comes from the caller.
// Threads: one at a time; the owner guards it.
#pragma once

#include <chrono>
#include <cstdint>

namespace vouchfs::observe {

// A wholly damaged file gives one event a block, 262144 a GiB: enough lines to see what is going on, too few to fill a disk.
inline constexpr std::uint64_t kLinesPerSecond = 20;

class LineLimiter {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Verdict {
    write,       // write the line
    write_last,  // write it, and say that lines are held back from here on
    hold_back,   // do not
  };
  struct Answer {
    Verdict verdict = Verdict::write;
    std::uint64_t held_back = 0;  // lines held back before this one and not told of yet: tell now
  };

  explicit LineLimiter(std::uint64_t lines_per_second = kLinesPerSecond) noexcept : limit_(lines_per_second) {}
  Answer ask(Clock::time_point now) noexcept;
  // Lines held back that nobody was told of; forgets them.
  std::uint64_t take_held_back() noexcept;

 private:
  std::uint64_t limit_;
  Clock::time_point second_{};  // start of the running second
  std::uint64_t written_ = 0;   // in it
  std::uint64_t held_back_ = 0;
};

}  // namespace vouchfs::observe
