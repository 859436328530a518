#include "verify/tree_cache.h"

#include <gtest/gtest.h>

namespace vouchfs::verify {
namespace {

TreeBlockPtr block_of(std::uint8_t fill) {
  auto block = std::make_shared<TreeBlock>();
  block->fill(fill);
  return block;
}

TEST(TreeCache, GivesBackWhatWasPutIn) {
  TreeCache cache(1 << 20);
  cache.insert(1, 2, block_of(7));
  ASSERT_NE(cache.find(1, 2), nullptr);
  EXPECT_EQ((*cache.find(1, 2))[0], 7);
  EXPECT_EQ(cache.find(2, 2), nullptr);
  EXPECT_EQ(cache.find(1, 3), nullptr);
}

TEST(TreeCache, KeepsTheFirstOfTwoInsertsOfOneBlock) {
  TreeCache cache(1 << 20);
  cache.insert(1, 2, block_of(7));
  cache.insert(1, 2, block_of(8));
  EXPECT_EQ((*cache.find(1, 2))[0], 7);
}

TEST(TreeCache, LetsTheLeastRecentlyUsedGo) {
  TreeCache cache(16 * kBlockBytes);
  for (std::uint64_t i = 0; i < 16; ++i) cache.insert(1, i, block_of(static_cast<std::uint8_t>(i)));
  ASSERT_NE(cache.find(1, 0), nullptr);  // now the most recent
  cache.insert(1, 16, block_of(16));
  EXPECT_NE(cache.find(1, 0), nullptr);
  EXPECT_EQ(cache.find(1, 1), nullptr);
}

TEST(TreeCache, KeepsToANewBoundFromTheNextBlockOn) {
  TreeCache cache(64 * kBlockBytes);
  for (std::uint64_t i = 0; i < 64; ++i) cache.insert(1, i, block_of(0));
  cache.resize(20 * kBlockBytes);
  EXPECT_EQ(cache.capacity(), 20U);
  cache.insert(1, 64, block_of(0));
  std::uint64_t kept = 0;
  for (std::uint64_t i = 0; i <= 64; ++i) kept += cache.find(1, i) != nullptr ? 1 : 0;
  EXPECT_EQ(kept, 20U);
  EXPECT_NE(cache.find(1, 64), nullptr);
  EXPECT_EQ(cache.find(1, 44), nullptr);
}

TEST(TreeCache, UsuallyHoldsTheWholeTreeOfAModelUpToEightGibibytes) {
  constexpr std::uint64_t mib = 1ULL << 20;
  EXPECT_EQ(TreeCache::usual_bytes(0), 4 * mib);
  EXPECT_EQ(TreeCache::usual_bytes(1024 * mib), 8 * mib);
  EXPECT_EQ(TreeCache::usual_bytes(8192 * mib), 64 * mib);
  EXPECT_EQ(TreeCache::usual_bytes(1ULL << 40), 64 * mib);
}

}  // namespace
}  // namespace vouchfs::verify
