// Rules 6 to 10: how the tensors lie in the data area.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/formats/sample_file.h"

namespace vouchfs::formats::test {
namespace {

using ::testing::HasSubstr;

std::string u8(std::uint64_t begin, std::uint64_t end) {
  return R"({"dtype":"U8","shape":[)" + std::to_string(end - begin) + R"(],"data_offsets":[)" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

TEST(SafetensorsLayout, OverlapHoleAndFirstOffsetAreInvalidOffset) {
  const auto overlap = problem_of(file_of("{\"x\":" + u8(0, 4) + ",\"y\":" + u8(3, 6) + "}", zeros(6)));
  EXPECT_EQ(overlap.name, "InvalidOffset");
  EXPECT_EQ(overlap.tensor, "y");
  EXPECT_EQ(overlap.text, "invalid offset for tensor `y`");
  EXPECT_THAT(overlap.detail, HasSubstr("overlaps tensor 'x'"));
  EXPECT_EQ(overlap.offset, 8U + 1U + std::string("\"x\":" + u8(0, 4) + ",").size());

  EXPECT_THAT(problem_of(file_of("{\"x\":" + u8(0, 4) + ",\"y\":" + u8(5, 6) + "}", zeros(6))).detail, HasSubstr("hole behind tensor 'x'"));
  EXPECT_THAT(problem_of(file_of("{\"x\":" + u8(1, 4) + "}", zeros(4))).detail, HasSubstr("must begin at 0"));
}

TEST(SafetensorsLayout, EndBeforeBeginIsInvalidOffset) {
  const auto problem =
      problem_of(file_of(R"({"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"x":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}})", zeros(4)));
  EXPECT_EQ(problem.name, "InvalidOffset");
  EXPECT_EQ(verdict(file_of(one_tensor("U8", "[4]", "[18446744073709551615,0]"), zeros(4))), "InvalidOffset");
}

TEST(SafetensorsLayout, TenTensorsOverOneRangeAreInvalidOffset) {
  std::string json = "{";
  for (int i = 0; i < 10; ++i)
    json += (i == 0 ? "\"weight_" : ",\"weight_") + std::to_string(i) + "\":" + R"({"dtype":"F32","shape":[2,2],"data_offsets":[0,16]})";
  EXPECT_EQ(verdict(file_of(json + "}", zeros(16))), "InvalidOffset");
}

TEST(SafetensorsLayout, OrderInTheTextDoesNotMatter) {
  const auto header = read(file_of("{\"c\":" + u8(7, 9) + ",\"a\":" + u8(0, 4) + ",\"b\":" + u8(4, 7) + "}", zeros(9)));
  ASSERT_FALSE(header.problem) << header.problem->detail;
  ASSERT_EQ(header.tensors.size(), 3U);
  EXPECT_EQ(header.tensors[0].name + header.tensors[1].name + header.tensors[2].name, "abc");
}

TEST(SafetensorsLayout, EmptyTensorsMayLieAnywhere) {
  const std::string empty = R"({"dtype":"F32","shape":[0,7],"data_offsets":)";
  EXPECT_EQ(verdict(file_of("{\"a\":" + empty + "[0,0]},\"x\":" + u8(0, 4) + ",\"z\":" + empty + "[4,4]},\"y\":" + empty + "[4,4]}}", zeros(4))), "ok");
  EXPECT_EQ(verdict(file_of("{\"a\":" + empty + "[2,2]},\"x\":" + u8(0, 4) + "}", zeros(4))), "InvalidOffset");
}

TEST(SafetensorsLayout, ShapeThatOverflowsIsValidationOverflow) {
  for (const char* shape :
       {"[2,18446744073709551614]", "[2,9223372036854775807]", "[18446744073709551615]", "[4294967296,4294967296]", "[4294967296,4294967296,0]"})
    EXPECT_EQ(verdict(file_of(one_tensor("F32", shape, "[0,4]"), zeros(4))), "ValidationOverflow") << shape;
  // Zero first: the product is never large.
  EXPECT_EQ(verdict(file_of(one_tensor("F32", "[0,4294967296,4294967296]", "[0,0]"))), "ok");
}

TEST(SafetensorsLayout, BitsThatFillNoWholeByteAreMisalignedSlice) {
  EXPECT_EQ(verdict(file_of(one_tensor("F4", "[3]", "[0,2]"), zeros(2))), "MisalignedSlice");
  EXPECT_EQ(verdict(file_of(one_tensor("F6_E2M3", "[2]", "[0,2]"), zeros(2))), "MisalignedSlice");
  EXPECT_EQ(verdict(file_of(one_tensor("F4", "[3,2]", "[0,3]"), zeros(3))), "ok");
  EXPECT_EQ(verdict(file_of(one_tensor("F6_E3M2", "[4]", "[0,3]"), zeros(3))), "ok");
}

TEST(SafetensorsLayout, SizeThatDoesNotFitTheShapeIsTensorInvalidInfo) {
  const auto problem = problem_of(file_of(one_tensor("F32", "[2,3]", "[0,20]"), zeros(20)));
  EXPECT_EQ(problem.name, "TensorInvalidInfo");
  EXPECT_EQ(problem.tensor, "x");
  EXPECT_THAT(problem.detail, HasSubstr("F32 [2, 3] and needs 24 bytes, but its data_offsets [0, 20) give it 20"));
}

TEST(SafetensorsLayout, RulesRunPerTensorInOrderOfOffsets) {
  // x breaks rule 9, y behind it rule 6: x is first. File order is the other way round.
  const auto problem = problem_of(file_of("{\"y\":" + u8(9, 12) + R"(,"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", zeros(12)));
  EXPECT_EQ(problem.name, "TensorInvalidInfo");
  EXPECT_EQ(problem.tensor, "x");
  // Of one tensor rule 6 comes before rule 7.
  EXPECT_EQ(verdict(file_of(one_tensor("F32", "[2,18446744073709551614]", "[1,4]"), zeros(4))), "InvalidOffset");
}

TEST(SafetensorsLayout, ShortFileNamesTheTensorsThatAreCut) {
  const std::string file = two_tensors();
  const auto cut = problem_of(file.substr(0, file.size() - 1));
  EXPECT_EQ(cut.name, "MetadataIncompleteBuffer");
  EXPECT_EQ(cut.tensor, "b");
  EXPECT_EQ(cut.offset, file.size() - 1);
  EXPECT_THAT(cut.detail, HasSubstr("1 bytes short"));
  const auto half = problem_of(file.substr(0, file.size() - 20));
  EXPECT_EQ(half.tensor, "a");
  EXPECT_THAT(half.detail, HasSubstr("and 1 more"));
  EXPECT_EQ(verdict(file.substr(0, file.size() - 40)), "MetadataIncompleteBuffer");
  EXPECT_EQ(verdict(file_of(one_tensor("U8", "[9223372036854775807]", "[0,9223372036854775807]"), zeros(4))), "ValidationOverflow");
  EXPECT_EQ(verdict(file_of(one_tensor("U8", "[1152921504606846976]", "[0,1152921504606846976]"), zeros(4))), "MetadataIncompleteBuffer");
}

TEST(SafetensorsLayout, TrailingBytesAreMetadataIncompleteBuffer) {
  const auto problem = problem_of(two_tensors() + "x");
  EXPECT_EQ(problem.name, "MetadataIncompleteBuffer");
  EXPECT_EQ(problem.offset, two_tensors().size());
  EXPECT_EQ(verdict(file_of("{}", "x")), "MetadataIncompleteBuffer");
}

TEST(SafetensorsLayout, RepeatedNameKeepsTheLastAndSaysSo) {
  // The first x is lost, so its bytes are a hole.
  const auto problem = problem_of(file_of("{\"x\":" + u8(0, 4) + ",\"x\":" + u8(4, 8) + "}", zeros(8)));
  EXPECT_EQ(problem.name, "InvalidOffset");
  EXPECT_THAT(problem.detail, HasSubstr("names 'x' twice"));
  const auto same = read(file_of("{\"x\":" + u8(0, 3) + ",\"x\":" + u8(0, 4) + "}", zeros(4)));
  ASSERT_FALSE(same.problem);
  ASSERT_EQ(same.tensors.size(), 1U);
  EXPECT_EQ(same.tensors[0].shape, (std::vector<std::uint64_t>{4}));
}

TEST(SafetensorsLayout, HeaderOfAnyLengthIsAccepted) {
  for (std::size_t blanks = 0; blanks < 9; ++blanks)
    EXPECT_EQ(verdict(file_of(std::string(kTwoTensors) + std::string(blanks, ' '), zeros(40))), "ok") << blanks;
}

TEST(SafetensorsLayout, ValuesAreNeverLookedAt) { EXPECT_EQ(verdict(file_of(kTwoTensors, std::string(40, '\xFF'))), "ok"); }

}  // namespace
}  // namespace vouchfs::formats::test
