// Tensor infos of a GGUF file and how the data must lie.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "unit/formats/gguf_sample.h"

namespace vouchfs::formats::test {
namespace {

using ::testing::HasSubstr;

GgufWriter one(std::uint32_t type, const std::vector<std::uint64_t>& shape, std::uint64_t bytes) {
  return std::move(GgufWriter().tensor("x", type, shape, bytes));
}

TEST(GgufTypes, AreSortedUniqueAndFoundById) {
  std::set<std::string_view> names;
  std::uint32_t before = 0;
  for (const GgufType& type : gguf_types()) {
    EXPECT_TRUE(names.insert(type.name).second) << type.name;
    EXPECT_TRUE(type.id == 0 || type.id > before) << type.name;
    EXPECT_EQ(find_gguf_type(type.id), &type);
    before = type.id;
  }
  for (const std::uint32_t id : {4U, 5U, 31U, 32U, 33U, 36U, 37U, 38U, 43U, 200U, 0xFFFFFFFFU}) EXPECT_EQ(find_gguf_type(id), nullptr) << id;
}

// A row of two blocks of every type, against sizes spelt out here: bits for each weight, as the formats' papers and ggml give them.
TEST(GgufTypes, ARowOfEveryTypeHasItsSize) {
  struct Row {
    std::uint32_t id;
    const char* name;
    std::uint64_t elements;
    std::uint64_t bytes;
  };
  const std::vector<Row> rows = {
      {0, "F32", 2, 8},        {1, "F16", 2, 4},        {2, "Q4_0", 64, 36},       {3, "Q4_1", 64, 40},      {6, "Q5_0", 64, 44},       {7, "Q5_1", 64, 48},
      {8, "Q8_0", 64, 68},     {9, "Q8_1", 64, 72},     {10, "Q2_K", 512, 168},    {11, "Q3_K", 512, 220},   {12, "Q4_K", 512, 288},    {13, "Q5_K", 512, 352},
      {14, "Q6_K", 512, 420},  {15, "Q8_K", 512, 584},  {16, "IQ2_XXS", 512, 132}, {17, "IQ2_XS", 512, 148}, {18, "IQ3_XXS", 512, 196}, {19, "IQ1_S", 512, 100},
      {20, "IQ4_NL", 64, 36},  {21, "IQ3_S", 512, 220}, {22, "IQ2_S", 512, 164},   {23, "IQ4_XS", 512, 272}, {24, "I8", 2, 2},          {25, "I16", 2, 4},
      {26, "I32", 2, 8},       {27, "I64", 2, 16},      {28, "F64", 2, 16},        {29, "IQ1_M", 512, 112},  {30, "BF16", 2, 4},        {34, "TQ1_0", 512, 108},
      {35, "TQ2_0", 512, 132}, {39, "MXFP4", 64, 34},   {40, "NVFP4", 128, 72},    {41, "Q1_0", 256, 36},    {42, "Q2_0", 128, 36}};
  EXPECT_EQ(rows.size(), gguf_types().size());
  for (const Row& row : rows) {
    const GgufHeader header = read_gguf(one(row.id, {row.elements, 3}, row.bytes * 3));
    ASSERT_FALSE(header.problem) << row.name << ": " << header.problem->detail;
    EXPECT_EQ(header.tensors.at(0).dtype, row.name);
    EXPECT_EQ(header.tensors.at(0).bytes(), row.bytes * 3) << row.name;
  }
}

TEST(GgufLayout, ScalarsAndEmptyTensorsAreTaken) {
  EXPECT_EQ(read_gguf(one(0, {}, 4)).tensors.at(0).bytes(), 4U);
  GgufWriter writer;
  writer.tensor("none", 0, {0, 4}, 0).tensor("b", 0, {4, 0, 2}, 0).tensor("a", 0, {2}, 8).tensor("end", 12, {0}, 0);
  const GgufHeader header = read_gguf(writer);
  ASSERT_FALSE(header.problem) << header.problem->detail;
  EXPECT_EQ(header.tensors.at(0).name, "b");  // empty ones at one place by name
  EXPECT_EQ(header.tensors.at(2).bytes(), 8U);
}

TEST(GgufLayout, NamesAreShortUniqueAndText) {
  EXPECT_EQ(gguf_verdict(GgufWriter().tensor(std::string(63, 'n'), 0, {1}, 4)), "ok");
  EXPECT_EQ(gguf_verdict(GgufWriter().tensor(std::string(64, 'n'), 0, {1}, 4)), "BadName");
  EXPECT_EQ(gguf_verdict(GgufWriter().tensor("", 0, {1}, 4)), "ok");
  EXPECT_EQ(gguf_verdict(GgufWriter().tensor("a\xFF", 0, {1}, 4)), "BadName");
  EXPECT_EQ(gguf_verdict(GgufWriter().tensor(std::string("a\0b", 3), 0, {1}, 4)), "BadName");
  const auto twice = gguf_problem(GgufWriter().tensor("same", 0, {1}, 4).tensor("same", 0, {1}, 4));
  EXPECT_EQ(twice.name, "DuplicateTensor");
  EXPECT_EQ(twice.tensor, "same");
  EXPECT_THAT(twice.text, HasSubstr("duplicate tensor name 'same'"));
}

TEST(GgufLayout, ShapesAreBounded) {
  EXPECT_EQ(gguf_verdict(one(0, {1, 2, 3, 4}, 96)), "ok");
  EXPECT_EQ(gguf_verdict(one(0, {1, 1, 1, 1, 1}, 4)), "BadShape");
  EXPECT_EQ(gguf_verdict(one(0, {1ULL << 63}, 4)), "BadShape");
  EXPECT_EQ(gguf_verdict(one(0, {~0ULL}, 4)), "BadShape");
  EXPECT_EQ(gguf_verdict(one(24, {1ULL << 32, 1ULL << 31}, 4)), "BadShape");
  EXPECT_EQ(gguf_verdict(one(24, {1ULL << 21, 1ULL << 21, 1ULL << 21}, 4)), "BadShape");
  EXPECT_EQ(gguf_verdict(one(24, {INT64_MAX}, 4)), "BadShape");
  EXPECT_EQ(gguf_verdict(one(28, {1ULL << 61}, 4)), "BadShape");         // 2^64 bytes
  EXPECT_EQ(gguf_verdict(one(24, {1ULL << 62}, 4)), "DataOutOfBounds");  // absurd, but it is a number
  EXPECT_EQ(gguf_verdict(one(2, {31, 32}, 18)), "BadShape");
  EXPECT_THAT(gguf_problem(one(2, {33}, 18)).detail, HasSubstr("blocks of 32"));
  EXPECT_EQ(gguf_problem(one(14, {63}, 18)).text, "tensor 'x' of type 14 (q6_K) has 63 elements per row, not a multiple of block size (256)");
}

TEST(GgufLayout, AnUnknownTypeKeepsTheTensorsBeforeIt) {
  GgufWriter writer = small_gguf();
  writer.tensor("odd", 200, {7}, 100).tensor("after", 0, {1}, 4);
  const GgufHeader header = read_gguf(writer);
  ASSERT_TRUE(header.problem);
  EXPECT_EQ(header.problem->name, "UnknownType");
  EXPECT_EQ(header.problem->tensor, "odd");
  EXPECT_EQ(header.data_offset, writer.data_offset());
  const std::uint64_t data = writer.data_offset();
  EXPECT_EQ(header.claimed, (std::vector<Tensor>{{"a", "F32", {3, 2}, data, data + 24}, {"b", "F32", {5}, data + 32, data + 52}}));
  for (const std::uint32_t removed : {4U, 5U, 31U, 36U, 43U}) EXPECT_EQ(gguf_verdict(one(removed, {1}, 4)), "UnknownType") << removed;
}

TEST(GgufLayout, OffsetsAreFixedByTheSizesBefore) {
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{24}, std::uint64_t{31}, std::uint64_t{64}, ~std::uint64_t{0}}) {
    const auto problem = gguf_problem(GgufWriter().tensor("a", 0, {6}, 24).tensor("b", 0, {1}, 4, offset));
    EXPECT_EQ(problem.name, "BadOffset") << offset;
    EXPECT_EQ(problem.tensor, "b");
    EXPECT_THAT(problem.text, HasSubstr("expected 32"));
  }
  EXPECT_EQ(gguf_verdict(GgufWriter().tensor("a", 0, {6}, 24, 32)), "BadOffset");
  // Sizes that add up past 2^64.
  EXPECT_EQ(gguf_verdict(GgufWriter().tensor("a", 27, {1ULL << 60}, 0, 0).tensor("b", 27, {1ULL << 60}, 0, 1ULL << 63).tensor("c", 24, {1}, 0, 0)),
            "BadOffset");
}

TEST(GgufLayout, ACutFileNamesTheTensorsThatAreCut) {
  const GgufWriter writer = small_gguf();
  const std::string file = writer.write();
  const std::uint64_t data = writer.data_offset();
  for (std::size_t size = static_cast<std::size_t>(data); size < data + 52; ++size) {
    const GgufHeader header = read_gguf(file.substr(0, size));
    ASSERT_TRUE(header.problem) << size;
    EXPECT_EQ(header.problem->name, "DataOutOfBounds");
    EXPECT_EQ(header.problem->tensor, size < data + 24 ? "a" : "b");
    EXPECT_EQ(header.problem->text, "tensor '" + header.problem->tensor + "' data is not within the file bounds, model is corrupted or incomplete");
    EXPECT_EQ(header.problem->offset, size);
    EXPECT_EQ(header.claimed.size(), 2U);
    EXPECT_EQ(header.data_end, data + 52);
  }
  EXPECT_EQ(gguf_verdict(file.substr(0, static_cast<std::size_t>(data) + 52)), "ok");
}

TEST(GgufLayout, AFileThatEndsBeforeItsDataBeginIsCutToo) {
  const GgufWriter writer = small_gguf();
  ASSERT_LT(writer.header().size(), writer.data_offset());
  const GgufHeader header = read_gguf(writer.header());
  ASSERT_TRUE(header.problem);
  EXPECT_EQ(header.problem->name, "DataOutOfBounds");
  EXPECT_EQ(header.claimed.size(), 2U);
  EXPECT_EQ(header.problem->text, "failed to seek to beginning of data section");
  EXPECT_EQ(gguf_verdict(GgufWriter().tensor("a", 0, {3}, 12, 64).header()), "DataOutOfBounds");  // before offsets are looked at
}

TEST(GgufLayout, TrailingBytesAndMissingPaddingAreNoFault) {
  GgufWriter writer = small_gguf();
  EXPECT_EQ(gguf_verdict(writer.write() + std::string(5000, 'x')), "ok");
  writer.end_padding = false;
  const std::string file = writer.write();
  EXPECT_EQ(gguf_verdict(file), "ok");
  EXPECT_EQ(read_gguf(file).data_end, file.size());
}

}  // namespace
}  // namespace vouchfs::formats::test
