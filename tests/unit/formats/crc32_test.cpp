#include "formats/crc32.h"

#include <gtest/gtest.h>

#include <string_view>

namespace vouchfs::formats::test {
namespace {

std::span<const std::uint8_t> bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

// The check value that every description of CRC-32 gives.
TEST(Crc32, KnownValues) {
  Crc32 crc;
  EXPECT_EQ(crc.value(), 0U);
  crc.add(bytes_of("123456789"));
  EXPECT_EQ(crc.value(), 0xCBF43926U);
  Crc32 zeros;
  zeros.add(bytes_of(std::string_view("\0\0\0\0", 4)));
  EXPECT_EQ(zeros.value(), 0x2144DF1CU);
}

TEST(Crc32, PiecesAndNothingBetweenThemGiveTheSame) {
  Crc32 crc;
  crc.add(bytes_of("1234"));
  crc.add({});
  crc.add(bytes_of("56789"));
  EXPECT_EQ(crc.value(), 0xCBF43926U);
}

}  // namespace
}  // namespace vouchfs::formats::test
