#include "verify/stream_table.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace vouchfs::verify {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kFile = 4096 * kMiB;

Extent piece(std::uint64_t begin, std::uint64_t length) { return {begin, begin + length}; }

// Asks for pieces in a row and gives the last answer.
std::optional<StreamTable::Plan> ask_in_order(StreamTable& table, std::uint64_t from, std::uint64_t length, unsigned times) {
  std::optional<StreamTable::Plan> last;
  for (unsigned i = 0; i < times; ++i) last = table.observe(piece(from + i * length, length));
  return last;
}

TEST(StreamTable, ThreePiecesInARowAreAStream) {
  StreamTable table(kFile, {});
  EXPECT_FALSE(ask_in_order(table, 64 * kMiB, 128 * kKiB, 2));
  const auto plan = table.observe(piece(64 * kMiB + 256 * kKiB, 128 * kKiB));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->ahead, (Extent{64 * kMiB + 384 * kKiB, 64 * kMiB + 384 * kKiB + StreamTable::kFirstWindow}));
}

TEST(StreamTable, TheWindowGrowsToItsBoundAndPlansNeverReachFurther) {
  StreamTable table(kFile, {});
  std::uint64_t furthest = 0;
  for (std::uint64_t at = 0; at < 256 * kMiB; at += 128 * kKiB)
    if (const auto plan = table.observe(piece(at, 128 * kKiB))) {
      EXPECT_EQ(plan->ahead.begin, at + 128 * kKiB);
      EXPECT_LE(plan->ahead.end, plan->ahead.begin + StreamTable::kWidestWindow);
      furthest = std::max(furthest, plan->ahead.end - plan->ahead.begin);
    }
  EXPECT_EQ(furthest, StreamTable::kWidestWindow);
}

TEST(StreamTable, PlansAlwaysReachPastTheReaderAndEndWithTheFile) {
  StreamTable table(20 * kMiB + 5000, {});
  std::uint64_t planned = 0;
  for (std::uint64_t at = 0; at < 20 * kMiB + 5000; at += 128 * kKiB) {
    if (const auto plan = table.observe({at, std::min(at + 128 * kKiB, 20 * kMiB + 5000)})) planned = plan->ahead.end;
    if (at >= kMiB) {
      EXPECT_GT(planned, at);
    }
  }
  EXPECT_EQ(planned, 20 * kMiB + 5000);
}

TEST(StreamTable, RandomFaultsAreNoStream) {
  StreamTable table(kFile, {});
  std::mt19937_64 random(1);
  unsigned plans = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t at = random() % (kFile / kMiB - 1) * kMiB;
    plans += table.observe(piece(at, 128 * kKiB)).has_value();
    plans += table.observe(piece(at + 128 * kKiB, 128 * kKiB)).has_value();  // what a fault of 64 KiB makes of it
  }
  EXPECT_LT(plans, 400U);
}

TEST(StreamTable, StreamsInOneFileAreToldApartByPlace) {
  StreamTable table(kFile, {});
  std::vector<std::uint64_t> ids(8);
  for (unsigned step = 0; step < 4; ++step)
    for (std::uint64_t i = 0; i < 8; ++i) {
      const auto plan = table.observe(piece(i * 256 * kMiB + step * 128 * kKiB, 128 * kKiB));
      if (step == 2) {
        ASSERT_TRUE(plan) << i;
        ids[i] = plan->stream;
      }
    }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
}

TEST(StreamTable, PiecesThatOvertakeEachOtherBelongTogether) {
  StreamTable table(kFile, {});
  ask_in_order(table, 0, 128 * kKiB, 4);
  const auto later = table.observe(piece(640 * kKiB, 128 * kKiB));  // 512 KiB is still on its way
  EXPECT_FALSE(table.observe(piece(512 * kKiB, 128 * kKiB)));       // late: nothing new
  const auto plan = ask_in_order(table, 768 * kKiB, 128 * kKiB, 8);
  ASSERT_TRUE(later || plan);
  if (plan && later) {
    EXPECT_EQ(plan->stream, later->stream);
  }
}

TEST(StreamTable, ATensorThatIsBegunIsReadOn) {
  const std::vector<Extent> tensors = {{kMiB, 33 * kMiB}, {33 * kMiB, 33 * kMiB + 4 * kKiB}, {34 * kMiB, 66 * kMiB}};
  StreamTable table(kFile, tensors);
  const auto plan = table.observe(piece(34 * kMiB, 128 * kKiB));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->ahead.begin, 34 * kMiB + 128 * kKiB);
}

TEST(StreamTable, ALoneBlockOrASmallTensorIsNoBeginning) {
  const std::vector<Extent> tensors = {{kMiB, 33 * kMiB}, {40 * kMiB, 40 * kMiB + 64 * kKiB}};
  StreamTable table(kFile, tensors);
  EXPECT_FALSE(table.observe(piece(kMiB, 4 * kKiB)));
  EXPECT_FALSE(table.observe(piece(40 * kMiB, 128 * kKiB)));
  EXPECT_FALSE(table.observe(piece(20 * kMiB, 128 * kKiB)));  // within a tensor, not at its begin
}

}  // namespace
}  // namespace vouchfs::verify
