// rate_limit: the rate over a run, no burst after a pause, an end while it waits.
#include "base/rate_limit.h"

#include <gtest/gtest.h>

namespace vouchfs {
namespace {

using namespace std::chrono_literals;

struct RateLimitTest : testing::Test {
  std::chrono::nanoseconds now = 1000s;
  RateClock clock{[this] { return now; }, [this](std::chrono::nanoseconds time) { now += time; }};
  std::function<Status()> going = [] { return Status{}; };
};

TEST_F(RateLimitTest, BytesComeAtTheRateAlsoWhenWorkTakesTime) {
  RateLimit limit(1000, clock);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(limit.take(500, going));
    now += 90ms;  // reading and hashing, made up for
  }
  EXPECT_EQ(now, 1010s + 90ms);
}

TEST_F(RateLimitTest, APauseDoesNotAllowABurst) {
  RateLimit limit(1000, clock);
  now += 100s;
  ASSERT_TRUE(limit.take(2000, going));
  EXPECT_EQ(now, 1102s - 100ms);
}

TEST_F(RateLimitTest, ZeroIsNoLimit) {
  RateLimit limit(0, clock);
  ASSERT_TRUE(limit.take(std::uint64_t{1} << 60, going));
  EXPECT_EQ(now, 1000s);
}

TEST_F(RateLimitTest, AnEndIsSeenWhileItWaits) {
  RateLimit limit(1, clock);
  const auto stopped = limit.take(1000000, [this]() -> Status {
    if (now > 1001s) return fail(ErrorCode::cancelled, "stop");
    return {};
  });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
  EXPECT_LE(now, 1001s + 100ms);
}

}  // namespace
}  // namespace vouchfs
