// Which values are not finite, against the machine's own arithmetic, for every pattern of the small types.
#include "doctor/float_kinds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace vouchfs::doctor {
namespace {

struct Counted {
  std::uint64_t nans;
  std::uint64_t infinities;
};

template <class Word>
Counted count_one(const char* dtype, Word bits) {
  NotFinite seen(*float_kind(dtype));
  std::uint8_t bytes[sizeof(Word)];
  std::memcpy(bytes, &bits, sizeof bits);
  seen.take(bytes);
  EXPECT_EQ(seen.values(), 1U);
  return {seen.nans(), seen.infinities()};
}

// A small float by its fields, with the rules of IEEE 754.
double by_fields(unsigned bits, unsigned exponent_bits, unsigned fraction_bits) {
  const unsigned exponent = bits >> fraction_bits & ((1U << exponent_bits) - 1U);
  const unsigned fraction = bits & ((1U << fraction_bits) - 1U);
  if (exponent == (1U << exponent_bits) - 1U) return fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return 1.0;
}

TEST(FloatKinds, AgreeWithIeeeOnEveryPatternOfTheSmallTypes) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto word = static_cast<std::uint16_t>(bits);
    const double half = by_fields(bits, 5, 10);
    ASSERT_EQ(count_one("F16", word).nans, std::isnan(half) ? 1U : 0U) << bits;
    ASSERT_EQ(count_one("F16", word).infinities, std::isinf(half) ? 1U : 0U) << bits;
    // bfloat16 is the upper half of a float.
    const std::uint32_t wide = bits << 16;
    float brain = 0;
    std::memcpy(&brain, &wide, sizeof brain);
    ASSERT_EQ(count_one("BF16", word).nans, std::isnan(brain) ? 1U : 0U) << bits;
    ASSERT_EQ(count_one("bfloat16", word).infinities, std::isinf(brain) ? 1U : 0U) << bits;
  }
  for (unsigned bits = 0; bits < 256; ++bits) {
    const double value = by_fields(bits, 5, 2);
    EXPECT_EQ(count_one("F8_E5M2", static_cast<std::uint8_t>(bits)).nans, std::isnan(value) ? 1U : 0U) << bits;
    EXPECT_EQ(count_one("F8_E5M2", static_cast<std::uint8_t>(bits)).infinities, std::isinf(value) ? 1U : 0U) << bits;
  }
}

TEST(FloatKinds, KnowTheEightBitTypesWithoutInfinity) {
  const auto nans_of = [](const char* dtype) {
    std::string text;
    for (unsigned bits = 0; bits < 256; ++bits) {
      const Counted counted = count_one(dtype, static_cast<std::uint8_t>(bits));
      EXPECT_EQ(counted.infinities, 0U);
      if (counted.nans != 0) text += std::to_string(bits) + " ";
    }
    return text;
  };
  EXPECT_EQ(nans_of("F8_E4M3"), "127 255 ");
  EXPECT_EQ(nans_of("float8_e4m3fn"), "127 255 ");
  EXPECT_EQ(nans_of("F8_E4M3FNUZ"), "128 ");
  EXPECT_EQ(nans_of("F8_E5M2FNUZ"), "128 ");
  EXPECT_EQ(nans_of("F8_E8M0"), "255 ");
}

TEST(FloatKinds, AgreeWithTheMachineOnFloatsAndDoubles) {
  for (const float value : {0.0F, -0.0F, 1.5F, std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min(), INFINITY, -INFINITY, NAN, -NAN}) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    EXPECT_EQ(count_one("F32", bits).nans, std::isnan(value) ? 1U : 0U) << value;
    EXPECT_EQ(count_one("float32", bits).infinities, std::isinf(value) ? 1U : 0U) << value;
    const double wide = value;
    std::uint64_t wide_bits = 0;
    std::memcpy(&wide_bits, &wide, sizeof wide_bits);
    EXPECT_EQ(count_one("F64", wide_bits).nans, std::isnan(wide) ? 1U : 0U) << value;
    EXPECT_EQ(count_one("float64", wide_bits).infinities, std::isinf(wide) ? 1U : 0U) << value;
  }
}

TEST(FloatKinds, HaveNoneForWholeNumbersAndQuantizedTypes) {
  for (const char* dtype : {"I64", "U8", "BOOL", "Q4_K", "F4", "F6_E2M3", "int32", ""}) EXPECT_FALSE(float_kind(dtype)) << dtype;
}

TEST(NotFinite, FindsTheFirstOneWhereverPiecesCut) {
  std::vector<float> values(5000, 1.0F);
  values[3777] = NAN;
  values[4000] = -INFINITY;
  values[4999] = NAN;
  std::vector<std::uint8_t> bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  for (const std::size_t step : {std::size_t{1}, std::size_t{3}, std::size_t{7}, std::size_t{4096}, std::size_t{4097}, bytes.size()}) {
    NotFinite seen(*float_kind("F32"));
    for (std::size_t at = 0; at < bytes.size(); at += step) seen.take(std::span(bytes).subspan(at, std::min(step, bytes.size() - at)));
    EXPECT_EQ(seen.nans(), 2U) << step;
    EXPECT_EQ(seen.infinities(), 1U) << step;
    EXPECT_EQ(seen.first(), 3777U * 4) << step;
    EXPECT_EQ(seen.values(), values.size()) << step;
  }
}

}  // namespace
}  // namespace vouchfs::doctor
