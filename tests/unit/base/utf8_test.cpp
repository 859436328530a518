#include "base/utf8.h"

#include <gtest/gtest.h>

namespace vouchfs {
namespace {

// The sequence for a code point, by the definition and not by table; also for code points that must not be encoded.
std::string encode(std::uint32_t point) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(static_cast<unsigned char>(value)); };
  if (point < 0x80) return {byte(point)};
  if (point < 0x800) return {byte(0xC0 | point >> 6), byte(0x80 | (point & 0x3F))};
  if (point < 0x10000) return {byte(0xE0 | point >> 12), byte(0x80 | (point >> 6 & 0x3F)), byte(0x80 | (point & 0x3F))};
  return {byte(0xF0 | point >> 18), byte(0x80 | (point >> 12 & 0x3F)), byte(0x80 | (point >> 6 & 0x3F)), byte(0x80 | (point & 0x3F))};
}

TEST(Utf8, EveryCodePointIsValidExceptSurrogatesAndThoseBeyondTheLast) {
  for (std::uint32_t point = 0; point < 0x120000; ++point) {
    const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
    ASSERT_EQ(is_utf8(encode(point)), !surrogate && point <= 0x10FFFF) << std::hex << point;
  }
}

TEST(Utf8, ACutSequenceIsInvalid) {
  for (const std::uint32_t point : {0x80U, 0x7FFU, 0x800U, 0xFFFFU, 0x10000U, 0x10FFFFU}) {
    const std::string whole = encode(point);
    for (std::size_t length = 1; length < whole.size(); ++length) {
      EXPECT_FALSE(is_utf8(whole.substr(0, length)));
      EXPECT_FALSE(is_utf8(whole.substr(0, length) + "x"));
    }
  }
}

TEST(Utf8, OverlongFormsAreInvalid) {
  for (const std::string& bad : {std::string("\xC0\x80"), std::string("\xC1\xBF"), std::string("\xE0\x80\x80"), std::string("\xE0\x9F\xBF"),
                                 std::string("\xF0\x80\x80\x80"), std::string("\xF0\x8F\xBF\xBF")})
    EXPECT_FALSE(is_utf8(bad));
}

TEST(Utf8, NamesTheFirstBadByte) {
  EXPECT_EQ(find_invalid_utf8("plain"), std::string_view::npos);
  EXPECT_EQ(find_invalid_utf8(""), std::string_view::npos);
  EXPECT_EQ(find_invalid_utf8("ab\xFF"), 2U);
  EXPECT_EQ(find_invalid_utf8("\xC3\xA4"
                              "b\x80"),
            3U);
  EXPECT_EQ(find_invalid_utf8("\xE2\x82\xAC\xE2\x82"), 3U);
}

TEST(Printable, KeepsTextAndEscapesTheRest) {
  EXPECT_EQ(printable("model-\xC3\xA4.bin"), "model-\xC3\xA4.bin");
  EXPECT_EQ(printable("a\nb\x1B[31m\x7F"), "a\\x0ab\\x1b[31m\\x7f");
  EXPECT_EQ(printable("\xFFx\xC3"), "\\xffx\\xc3");
  EXPECT_EQ(printable(std::string("\0", 1)), "\\x00");
}

// C1 control characters (U+0080 to U+009F) steer terminals as escape sequences do.
TEST(Printable, EscapesControlCharactersOfTwoBytes) {
  EXPECT_EQ(printable("a\xC2\x9B"
                      "b")
                .find("\xC2\x9B"),
            std::string::npos);
}

TEST(Printable, AlwaysGivesUtf8) {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second) EXPECT_TRUE(is_utf8(printable(std::string{static_cast<char>(first), static_cast<char>(second)})));
}

}  // namespace
}  // namespace vouchfs
