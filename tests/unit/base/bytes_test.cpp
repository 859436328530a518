#include "base/bytes.h"

#include <gtest/gtest.h>

namespace vouchfs {
namespace {

TEST(FormatBytes, UsesIecUnitsWithOneDecimal) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(5ULL << 30), "5.0 GiB");
  EXPECT_EQ(format_bytes(3ULL << 40), "3.0 TiB");
  EXPECT_EQ(format_bytes(UINT64_MAX), "16384.0 PiB");
}

TEST(ParseBytes, TakesPlainNumbersAndPowersOf1024) {
  EXPECT_EQ(parse_bytes("0"), 0U);
  EXPECT_EQ(parse_bytes("1048576"), 1048576U);
  EXPECT_EQ(parse_bytes("4K"), 4096U);
  EXPECT_EQ(parse_bytes("4k"), 4096U);
  EXPECT_EQ(parse_bytes("1M"), 1U << 20);
  EXPECT_EQ(parse_bytes("2G"), 2ULL << 30);
  EXPECT_EQ(parse_bytes("1T"), 1ULL << 40);
  EXPECT_EQ(parse_bytes("4KiB"), 4096U);
  EXPECT_EQ(parse_bytes("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_bytes("16777215T"), 16777215ULL << 40);
}

TEST(ParseBytes, RefusesWhatIsNoSize) {
  for (const char* bad : {"", "K", "-1", "+1", " 1", "1 ", "1X", "1KK", "4Kb", "1.5G", "0x10", "18446744073709551616", "16777216T", "99999999999999999999G"}) {
    const Result<std::uint64_t> parsed = parse_bytes(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(parsed.error().advice, "");
  }
}

TEST(ParseSeconds, TakesSecondsAndUnits) {
  EXPECT_EQ(parse_seconds("0"), 0.0);
  EXPECT_EQ(parse_seconds("1.5"), 1.5);
  EXPECT_EQ(parse_seconds("10s"), 10.0);
  EXPECT_EQ(parse_seconds("2m"), 120.0);
  EXPECT_EQ(parse_seconds("1.5h"), 5400.0);
  EXPECT_EQ(parse_seconds("7d"), 604800.0);
}

TEST(ParseSeconds, RefusesWhatIsNoDuration) {
  for (const char* bad : {"", "s", "-1", "1w", "1 s", "1ms", "nan", "inf", "1e300", "1e400"}) {
    const Result<double> parsed = parse_seconds(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace vouchfs
