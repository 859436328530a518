#include "base/units.h"

#include <gtest/gtest.h>

namespace vouchfs {
namespace {

TEST(Blocks, AreCountedUpwards) {
  EXPECT_EQ(blocks_for(0), 0U);
  EXPECT_EQ(blocks_for(1), 1U);
  EXPECT_EQ(blocks_for(4096), 1U);
  EXPECT_EQ(blocks_for(4097), 2U);
  EXPECT_EQ(blocks_for(UINT64_MAX), 1ULL << 52);
}

TEST(Blocks, TheLastOneIsAsLongAsWhatIsLeft) {
  EXPECT_EQ(bytes_in_block(10'000, 0), 4096U);
  EXPECT_EQ(bytes_in_block(10'000, 2), 10'000U - 8192U);
  EXPECT_EQ(bytes_in_block(10'000, 3), 0U);
  EXPECT_EQ(bytes_in_block(8192, 1), 4096U);
  EXPECT_EQ(bytes_in_block(0, 0), 0U);
  EXPECT_EQ(bytes_in_block(10'000, UINT64_MAX), 0U);
  EXPECT_EQ(bytes_in_block(UINT64_MAX, (1ULL << 52) - 1), 4095U);
}

}  // namespace
}  // namespace vouchfs
