// Magic, version, counts and keys of a GGUF file: what is read, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "unit/formats/gguf_sample.h"

namespace vouchfs::formats::test {
namespace {

using ::testing::HasSubstr;

TEST(GgufHeader, TwoTensorsAreFoundWithTheirPlaces) {
  const GgufWriter writer = small_gguf();
  const GgufHeader header = read_gguf(writer);
  ASSERT_FALSE(header.problem) << header.problem->detail;
  const std::uint64_t data = writer.data_offset();
  EXPECT_EQ(header.tensors, (std::vector<Tensor>{{"a", "F32", {3, 2}, data, data + 24}, {"b", "F32", {5}, data + 32, data + 52}}));
  EXPECT_EQ(header.version, 3U);
  EXPECT_EQ(header.tensor_count, 2U);
  EXPECT_EQ(header.key_count, 1U);
  EXPECT_EQ(header.architecture, "llama");
  EXPECT_EQ(header.data_offset, data);
  EXPECT_EQ(header.data_end, data + 52);
  EXPECT_EQ(header.alignment, 32U);
  EXPECT_FALSE(header.split);
  EXPECT_TRUE(header.claimed.empty());
}

TEST(GgufHeader, VersionTwoIsTheSame) {
  GgufWriter writer = small_gguf();
  writer.version = 2;
  EXPECT_EQ(gguf_verdict(writer), "ok");
  EXPECT_EQ(read_gguf(writer).version, 2U);
}

TEST(GgufHeader, AFileOfKeysAloneIsWhole) {
  GgufWriter writer;
  writer.key_text("general.architecture", "llama");
  EXPECT_EQ(gguf_verdict(writer), "ok");
  EXPECT_EQ(gguf_verdict(GgufWriter()), "ok");
}

TEST(GgufHeader, AnotherMagicIsRefusedAndShown) {
  for (const char* magic : {"vers", "tjgg", "<!DO", "FUGG"}) {
    GgufWriter writer = small_gguf();
    writer.magic = magic;
    const auto problem = gguf_problem(writer);
    EXPECT_EQ(problem.name, "BadMagic");
    EXPECT_EQ(problem.text, "invalid magic characters: '" + std::string(magic) + "', expected 'GGUF'");
    EXPECT_EQ(problem.offset, 0U);
  }
}

TEST(GgufHeader, OtherVersionsAndByteOrdersAreRefused) {
  const auto with = [](std::uint32_t version) {
    GgufWriter writer = small_gguf();
    writer.version = version;
    return gguf_problem(writer);
  };
  for (const std::uint32_t version : {0U, 1U, 4U, 0x30001U}) EXPECT_EQ(with(version).name, "UnsupportedVersion") << version;
  for (const std::uint32_t version : {0x02000000U, 0x03000000U}) EXPECT_EQ(with(version).name, "ByteOrder") << version;
  EXPECT_THAT(with(1).text, HasSubstr("GGUFv1 is no longer supported"));
  EXPECT_THAT(with(4).text, HasSubstr("only supports up to version 3"));
  EXPECT_THAT(with(0x03000000U).detail, HasSubstr("big-endian (3)"));
  EXPECT_EQ(with(4).offset, 4U);
}

TEST(GgufHeader, EveryCutOfTheHeaderIsToldAsOne) {
  GgufWriter writer = small_gguf();
  writer.key_array("tokens", gguf_string, 2, gguf_text("one") + gguf_text("two")).key_array("scores", gguf_f32, 2, std::string(8, 'x')).key_u32("n", 7);
  const std::string whole = writer.header();
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_EQ(gguf_verdict(whole.substr(0, size)), size < 4 ? "FileTooSmall" : "TruncatedHeader") << size;
}

TEST(GgufHeader, ACutHeaderKeepsTheNamesBeforeTheCutWithoutPlaces) {
  const std::string whole = small_gguf().header();
  const GgufHeader header = read_gguf(whole.substr(0, whole.size() - 1));
  EXPECT_EQ(header.claimed, (std::vector<Tensor>{{"a", "F32", {3, 2}, 0, 0}}));
  EXPECT_EQ(header.data_offset, 0U);
  EXPECT_THAT(header.problem->detail, HasSubstr("tensor 2 of 2"));
  EXPECT_EQ(header.problem->text, "failed to read tensor info");
}

// A file of 2^40 tensors is answered from its first 24 bytes, and one that claims what could be is read no further than it goes.
TEST(GgufHeader, AbsurdCountsCostNothing) {
  const auto with_counts = [](std::uint64_t tensors, std::uint64_t keys) {
    GgufWriter writer = small_gguf();
    writer.claimed_tensors = tensors;
    writer.claimed_keys = keys;
    return writer.write();
  };
  for (const std::uint64_t count : {std::uint64_t{1} << 40, std::numeric_limits<std::uint64_t>::max(), std::uint64_t{1} << 63}) {
    std::uint64_t bytes_read = 0;
    for (const std::string& file : {with_counts(count, 1), with_counts(2, count)}) {
      const auto header = read_gguf_header(file.size(), [&](std::uint64_t offset, std::span<std::uint8_t> dst) {
        bytes_read += dst.size();
        return reader_of(file)(offset, dst);
      });
      ASSERT_TRUE(header);
      EXPECT_EQ(header->problem.value_or(HeaderProblem{}).name, "BadCount") << count;
    }
    EXPECT_LE(bytes_read, 2U * 65536U);
  }
  EXPECT_THAT(gguf_problem(with_counts(~std::uint64_t{0}, 1)).text, HasSubstr("is -1"));
  EXPECT_EQ(gguf_verdict(with_counts(1000, 1)), "BadName");  // data, read as a third info
}

TEST(GgufHeader, EveryTypeOfValueIsPassedOver) {
  GgufWriter writer;
  const std::vector<unsigned> bytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  for (std::uint32_t type = 0; type < bytes.size(); ++type) {
    if (bytes[type] == 0) continue;
    writer.key("scalar" + std::to_string(type), type, std::string(bytes[type], '\x7F'));
    writer.key_array("array" + std::to_string(type), type, 3, std::string(3U * bytes[type], '\x7F'));
  }
  writer.key_text("text", "x").key_array("texts", gguf_string, 2, gguf_text("") + gguf_text("long")).key_array("none", gguf_string, 0, "");
  writer.tensor("a", 0, {1}, 4);
  EXPECT_EQ(gguf_verdict(writer), "ok");
}

TEST(GgufHeader, LongArraysAreWalkedAcrossPieces) {
  std::string raw;
  for (int i = 0; i < 20000; ++i) raw += gguf_text("token" + std::to_string(i));
  GgufWriter writer;
  writer.key_array("tokens", gguf_string, 20000, raw).key_array("scores", gguf_f32, 70000, std::string(280000, 'x')).tensor("a", 0, {1}, 4);
  const GgufHeader header = read_gguf(writer);
  ASSERT_FALSE(header.problem) << header.problem->detail;
  EXPECT_EQ(header.tensors.at(0).begin, writer.data_offset());
}

TEST(GgufHeader, EmptyDoubleAndEndlessKeysAreRefused) {
  EXPECT_EQ(gguf_verdict(GgufWriter().key_u32("", 1)), "BadKey");
  const auto twice = gguf_problem(GgufWriter().key_u32("n", 1).key_u32("n", 1));
  EXPECT_EQ(twice.name, "DuplicateKey");
  EXPECT_EQ(twice.text, "duplicate key 'n'");
  EXPECT_EQ(twice.offset, 24U + 8U + 1U + 4U + 4U);
  EXPECT_EQ(gguf_verdict(GgufWriter().key_u32(std::string(65535, 'k'), 1)), "ok");
  EXPECT_EQ(gguf_verdict(GgufWriter().key_u32(std::string(65536, 'k'), 1)), "BadKey");
  GgufWriter writer;
  writer.claimed_keys = 1;
  EXPECT_EQ(gguf_verdict(writer.header() + little_endian(std::uint64_t{1} << 60, 8)), "BadKey");
}

TEST(GgufHeader, KeysThatAreNoTextAreRefused) {
  for (const std::string& key : {std::string("llama.bl\xEFock"), std::string("llama\0block", 11)}) {
    const auto problem = gguf_problem(GgufWriter().key_u32("n", 1).key_u32(key, 1));
    EXPECT_EQ(problem.name, "BadKey");
    EXPECT_NE(problem.detail.find("key number 2 (\"llama"), std::string::npos) << problem.detail;
    EXPECT_EQ(problem.offset, 24U + 8U + 1U + 4U + 4U);
  }
  EXPECT_EQ(gguf_verdict(GgufWriter().key_u32("schlüssel", 1)), "ok");
}

TEST(GgufHeader, ValuesOfNoTypeNestedArraysAndEndlessOnesAreRefused) {
  EXPECT_EQ(gguf_verdict(GgufWriter().key("k", 13, "12345678")), "BadValue");
  EXPECT_EQ(gguf_verdict(GgufWriter().key("k", 0xFFFFFFFFU, "12345678")), "BadValue");
  EXPECT_EQ(gguf_verdict(GgufWriter().key_array("k", gguf_array, 1, std::string(20, '\0'))), "BadValue");
  EXPECT_EQ(gguf_verdict(GgufWriter().key_array("k", 13, 1, std::string(20, '\0'))), "BadValue");
  EXPECT_EQ(gguf_verdict(GgufWriter().key_array("k", gguf_u8, (1ULL << 30) + 1, "x")), "BadValue");
  EXPECT_EQ(gguf_verdict(GgufWriter().key("k", gguf_string, little_endian((1ULL << 30) + 1, 8))), "BadValue");
  const auto endless = gguf_problem(GgufWriter().key_array("k", gguf_string, 1, little_endian(~0ULL, 8)));
  EXPECT_EQ(endless.name, "BadValue");
  EXPECT_EQ(endless.text, "string length 18446744073709551615 exceeds maximum 1073741824");
  // More texts than their lengths alone would leave room for: no element is looked at.
  EXPECT_EQ(gguf_verdict(GgufWriter().key_array("k", gguf_string, 3, little_endian(~0ULL, 8) + little_endian(0, 8))), "TruncatedHeader");
  // Possible lengths that the file does not have: it is cut.
  EXPECT_EQ(gguf_verdict(GgufWriter().key("k", gguf_string, little_endian(1ULL << 30, 8))), "TruncatedHeader");
  EXPECT_EQ(gguf_verdict(GgufWriter().key_array("k", gguf_f64, 1ULL << 30, "x")), "TruncatedHeader");
}

TEST(GgufHeader, AlignmentIsAPowerOfTwoOf32Bits) {
  for (const std::uint32_t alignment : {1U, 8U, 64U, 4096U, 1U << 20}) {
    GgufWriter writer;
    writer.alignment = alignment;
    writer.key_u32("general.alignment", alignment).tensor("a", 0, {1}, 4).tensor("b", 0, {1}, 4);
    const GgufHeader header = read_gguf(writer);
    ASSERT_FALSE(header.problem) << alignment << header.problem->detail;
    EXPECT_EQ(header.alignment, alignment);
    EXPECT_EQ(header.tensors.at(1).begin, writer.data_offset() + std::max<std::uint64_t>(4, alignment));
  }
  for (const std::uint32_t alignment : {0U, 3U, 33U, 1U << 21, 1U << 31})
    EXPECT_EQ(gguf_verdict(GgufWriter().key_u32("general.alignment", alignment)), "BadAlignment");
  const auto wide = gguf_problem(GgufWriter().key("general.alignment", gguf_u64, little_endian(32, 8)));
  EXPECT_EQ(wide.name, "BadAlignment");
  EXPECT_EQ(gguf_problem(GgufWriter().key_u32("n", 1).key_u32("general.alignment", 33).key_u32("m", 1)).offset, 24U + 8U + 1U + 4U + 4U);
  EXPECT_EQ(wide.text, "key 'general.alignment' must be of type u32 but is u64");
  // Only after all keys, as the library does.
  EXPECT_EQ(gguf_verdict(GgufWriter().key("general.alignment", gguf_u64, little_endian(32, 8)).key_u32("", 1)), "BadKey");
  EXPECT_EQ(gguf_verdict(GgufWriter().key_array("general.alignment", gguf_u32, 1, little_endian(32, 4))), "BadAlignment");
}

TEST(GgufHeader, ASplitIsReadInAnyWidth) {
  GgufWriter writer;
  writer.key_u16("split.no", 1).key_u16("split.count", 3).key("split.tensors.count", gguf_i32, little_endian(42, 4));
  const auto split = read_gguf(writer).split;
  ASSERT_TRUE(split);
  EXPECT_EQ(split->number, 1U);
  EXPECT_EQ(split->count, 3U);
  EXPECT_EQ(split->tensors, 42U);
}

TEST(GgufHeader, AReaderThatFailsIsAnErrorAndNoVerdict) {
  const auto failing =
      read_gguf_header(1000, [](std::uint64_t, std::span<std::uint8_t>) -> Result<std::size_t> { return fail(ErrorCode::io, "no such luck"); });
  ASSERT_FALSE(failing);
  EXPECT_EQ(failing.error().code, ErrorCode::io);
  const std::string file = small_gguf().write();
  const auto shrunk = read_gguf_header(file.size() + 1, reader_of(file));
  ASSERT_FALSE(shrunk);
  EXPECT_EQ(shrunk.error().code, ErrorCode::truncated);
}

TEST(GgufPartName, IsTheNameOfAnotherPart) {
  EXPECT_EQ(gguf_part_name("m-Q4_K-00001-of-00003.gguf", 2), "m-Q4_K-00002-of-00003.gguf");
  EXPECT_EQ(gguf_part_name("m-00001-of-00003.gguf", 3), "m-00003-of-00003.gguf");
  EXPECT_EQ(gguf_part_name("a-of-b-000001-of-000012.gguf", 12), "a-of-b-000012-of-000012.gguf");
  for (const char* name : {"m.gguf", "m-1-of-3.gguf", "m-00001-of-00003.safetensors", "m-00001-of-.gguf", "00001-of-00003.gguf", "m-0000x-of-00003.gguf",
                           "m-00001-of-99999999999999999999999.gguf"})
    EXPECT_EQ(gguf_part_name(name, 1), std::nullopt) << name;
  EXPECT_EQ(gguf_part_name("m-00001-of-00003.gguf", 0), std::nullopt);
  EXPECT_EQ(gguf_part_name("m-00001-of-00003.gguf", 4), std::nullopt);
}

}  // namespace
}  // namespace vouchfs::formats::test
