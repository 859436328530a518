#include "verify/known_bad.h"

#include <gtest/gtest.h>

namespace vouchfs::verify {
namespace {

using Clock = KnownBadTable::Clock;

BadBlock bad_at(std::uint64_t block) {
  BadBlock bad;
  bad.block = block;
  return bad;
}

TEST(KnownBadTable, HoldsAnEntryForOneSecondAtMost) {
  KnownBadTable table;
  const auto now = Clock::now();
  table.insert(bad_at(5), source::Stamp{}, now);
  EXPECT_TRUE(table.find(5, 1, now + std::chrono::milliseconds(999)));
  EXPECT_FALSE(table.find(5, 1, now + KnownBadTable::kHolds));
  EXPECT_TRUE(table.any()) << "it is still known to be bad, only not for reads";
}

TEST(KnownBadTable, FindsTheFirstEntryOfARange) {
  KnownBadTable table;
  const auto now = Clock::now();
  table.insert(bad_at(9), std::nullopt, now);
  table.insert(bad_at(7), std::nullopt, now);
  ASSERT_TRUE(table.find(0, 10, now));
  EXPECT_EQ(table.find(0, 10, now)->bad.block, 7U);
  EXPECT_FALSE(table.find(0, 7, now));
  EXPECT_EQ(table.blocks(), (std::vector<std::uint64_t>{7, 9}));
}

TEST(KnownBadTable, ForgetsWhatWasReadRight) {
  KnownBadTable table;
  table.insert(bad_at(7), std::nullopt, Clock::now());
  table.insert(bad_at(8), std::nullopt, Clock::now());
  table.erase(0, 8);
  EXPECT_EQ(table.blocks(), (std::vector<std::uint64_t>{8}));
  table.erase(8, 1);
  EXPECT_FALSE(table.any());
}

TEST(KnownBadTable, StaysBounded) {
  KnownBadTable table;
  for (std::uint64_t block = 0; block < KnownBadTable::kMost + 10; ++block) table.insert(bad_at(block), std::nullopt, Clock::now());
  EXPECT_EQ(table.blocks().size(), KnownBadTable::kMost);
}

}  // namespace
}  // namespace vouchfs::verify
