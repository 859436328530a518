#include "verify/neighbour_windows.h"

#include <gtest/gtest.h>

namespace vouchfs::verify {
namespace {

std::vector<std::uint8_t> blocks_of(std::size_t count) {
  std::vector<std::uint8_t> bytes(count * kBlockBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i / kBlockBytes + 1);
  return bytes;
}

TEST(NeighbourWindows, GivesTheGoodNeighboursAndNeverTheBadBlock) {
  NeighbourWindows windows;
  BadBlock bad;
  bad.block = 12;
  windows.keep(3, 10, blocks_of(4), std::vector{bad});
  std::vector<std::uint8_t> out(kBlockBytes);
  EXPECT_TRUE(windows.copy(3, 11, out));
  EXPECT_EQ(out[0], 2);
  EXPECT_FALSE(windows.copy(3, 12, out));
  std::vector<std::uint8_t> two(2 * kBlockBytes);
  EXPECT_TRUE(windows.copy(3, 10, two));
  EXPECT_FALSE(windows.copy(3, 11, two)) << "a range with a bad block in it";
}

TEST(NeighbourWindows, KnowsOnlyItsOwnFileAndRange) {
  NeighbourWindows windows;
  windows.keep(3, 10, blocks_of(4), {});
  std::vector<std::uint8_t> out(kBlockBytes);
  EXPECT_FALSE(windows.copy(4, 10, out));
  EXPECT_FALSE(windows.copy(3, 9, out));
  EXPECT_FALSE(windows.copy(3, 14, out));
  EXPECT_TRUE(windows.covers(3, 10, 4));
  EXPECT_FALSE(windows.covers(3, 10, 5));
}

TEST(NeighbourWindows, KeepsABoundedNumber) {
  NeighbourWindows windows;
  for (std::uint64_t file = 0; file <= NeighbourWindows::kWindows; ++file) windows.keep(file, 0, blocks_of(1), {});
  EXPECT_FALSE(windows.covers(0, 0, 1));
  EXPECT_TRUE(windows.covers(1, 0, 1));
}

}  // namespace
}  // namespace vouchfs::verify
