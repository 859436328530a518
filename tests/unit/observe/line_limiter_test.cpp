#include "observe/line_limiter.h"

#include <gtest/gtest.h>

namespace vouchfs::observe {
namespace {

using Verdict = LineLimiter::Verdict;
using std::chrono::milliseconds;

const LineLimiter::Clock::time_point kStart{std::chrono::hours(1)};

TEST(LineLimiter, LetsTheLimitThroughAndSaysWhichLineIsTheLast) {
  LineLimiter limiter(3);
  EXPECT_EQ(limiter.ask(kStart).verdict, Verdict::write);
  EXPECT_EQ(limiter.ask(kStart).verdict, Verdict::write);
  EXPECT_EQ(limiter.ask(kStart).verdict, Verdict::write_last);
  EXPECT_EQ(limiter.ask(kStart).verdict, Verdict::hold_back);
}

TEST(LineLimiter, TellsHowManyWereHeldBackOnceTheSecondIsOver) {
  LineLimiter limiter(1);
  limiter.ask(kStart);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(limiter.ask(kStart + milliseconds(999)).verdict, Verdict::hold_back);
  const auto next = limiter.ask(kStart + milliseconds(1000));
  EXPECT_EQ(next.verdict, Verdict::write_last);
  EXPECT_EQ(next.held_back, 5U);
  EXPECT_EQ(limiter.ask(kStart + milliseconds(2000)).held_back, 0U) << "told once only";
}

TEST(LineLimiter, GivesUpWhatWasHeldBackAtTheEnd) {
  LineLimiter limiter(1);
  limiter.ask(kStart);
  limiter.ask(kStart);
  limiter.ask(kStart);
  EXPECT_EQ(limiter.take_held_back(), 2U);
  EXPECT_EQ(limiter.take_held_back(), 0U);
}

}  // namespace
}  // namespace vouchfs::observe
