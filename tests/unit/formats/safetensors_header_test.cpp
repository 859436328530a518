// Rules 1 to 5: the length field, UTF-8, JSON and the fields of an entry.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/formats/sample_file.h"

namespace vouchfs::formats::test {
namespace {

using ::testing::HasSubstr;

TEST(SafetensorsHeader, GoodFileGivesItsTensorsFromTheStartOfTheFile) {
  const auto header = read(two_tensors());
  ASSERT_FALSE(header.problem) << header.problem->detail;
  const std::uint64_t data = 8 + kTwoTensors.size();
  EXPECT_EQ(header.data_offset, data);
  ASSERT_EQ(header.tensors.size(), 2U);
  EXPECT_EQ(header.tensors[0], (Tensor{"a", "F32", {2, 3}, data, data + 24}));
  EXPECT_EQ(header.tensors[1], (Tensor{"b", "I64", {2}, data + 24, data + 40}));
  EXPECT_FALSE(header.format);
}

TEST(SafetensorsHeader, FewerThanEightBytesIsHeaderTooSmall) {
  for (std::size_t size = 0; size < 8; ++size) EXPECT_EQ(verdict(zeros(size)), "HeaderTooSmall") << size;
}

TEST(SafetensorsHeader, LengthOverTheLimitIsHeaderTooLarge) {
  std::string file = zeros(64);
  const auto with_length = [&](std::uint64_t n) {
    std::memcpy(file.data(), &n, sizeof n);
    return verdict(file);
  };
  EXPECT_EQ(with_length(100'000'000), "InvalidHeaderLength");
  EXPECT_EQ(with_length(100'000'001), "HeaderTooLarge");
  EXPECT_EQ(with_length(1ULL << 63), "HeaderTooLarge");
  EXPECT_EQ(with_length(UINT64_MAX), "HeaderTooLarge");
}

TEST(SafetensorsHeader, OtherFilesUnderTheNameAreHeaderTooLargeAndShowTheirFirstBytes) {
  for (const char* start : {"version https://git-lfs.github.com/spec/v1\n", "<!DOCTYPE html><html>", "Entry not found", "{\"error\":\"x\"}",
                            "PK\x03\x04 rest of a zip", "GGUF\x03 rest of a gguf", "\xEF\xBB\xBF\x40 a byte order mark"}) {
    const auto problem = problem_of(start);
    EXPECT_EQ(problem.name, "HeaderTooLarge") << start;
    EXPECT_EQ(problem.text, "header too large");
    EXPECT_THAT(problem.detail, HasSubstr("no safetensors file"));
  }
  EXPECT_THAT(problem_of("version https://git-lfs").detail, HasSubstr("\"version \""));
}

TEST(SafetensorsHeader, FileCutInsideTheHeaderIsInvalidHeaderLength) {
  const std::string file = two_tensors();
  for (const std::size_t size : {std::size_t{8}, std::size_t{9}, 8 + kTwoTensors.size() / 2, 8 + kTwoTensors.size() - 1})
    EXPECT_EQ(verdict(file.substr(0, size)), "InvalidHeaderLength") << size;
}

TEST(SafetensorsHeader, ZeroFilledHeadIsTheJsonErrorOfAnEmptyText) {
  const auto problem = problem_of(zeros(1000));
  EXPECT_EQ(problem.name, "InvalidHeaderDeserialization");
  EXPECT_EQ(problem.text, "invalid JSON in header: EOF while parsing a value at line 1 column 0");
  EXPECT_THAT(problem.detail, HasSubstr("zero-filled head"));
}

TEST(SafetensorsHeader, InvalidUtf8IsInvalidHeaderWithItsByte) {
  const auto problem = problem_of(file_of("{\"\xFF\":1}"));
  EXPECT_EQ(problem.name, "InvalidHeader");
  EXPECT_EQ(problem.offset, 8U + 2U);
  EXPECT_EQ(verdict(file_of("\xFF")), "InvalidHeader");
  // UTF-8 is checked before the JSON: the text breaks off earlier than the bad byte stands.
  EXPECT_EQ(verdict(file_of("{,\xFF")), "InvalidHeader");
}

TEST(SafetensorsHeader, JsonFaultsAreInvalidHeaderDeserializationWithTheirByte) {
  for (const char* json : {"{", "}", "", "   ", "[]", "3", "null", "\"x\"", "{\"a\":}", "{'a':1}", "{\"a\":{},}", "{\"a\":01}", "{\"a\":1e999}",
                           "{\"a\":\"\\ud800\"}", "{} {}", "{}x"})
    EXPECT_EQ(verdict(file_of(json)), "InvalidHeaderDeserialization") << json;
  EXPECT_EQ(problem_of(file_of("{\"a\":}")).offset, 8U + 5U);
}

TEST(SafetensorsHeader, NulBytesAfterTheJsonAreRefusedAndBlanksAreNot) {
  const std::string json(kTwoTensors);
  EXPECT_EQ(verdict(file_of(json + " \n\t\r ", zeros(40))), "ok");
  EXPECT_EQ(verdict(file_of(" \n\t\r " + json, zeros(40))), "ok");
  EXPECT_EQ(verdict(file_of(json + '\0', zeros(40))), "InvalidHeaderDeserialization");
  EXPECT_EQ(problem_of(file_of(json + "  " + '\0', zeros(40))).offset, 8 + json.size() + 2);
}

TEST(SafetensorsHeader, ByteOrderMarkInsideTheHeaderIsRefused) { EXPECT_EQ(verdict(file_of("\xEF\xBB\xBF{}")), "InvalidHeaderDeserialization"); }

TEST(SafetensorsHeader, ATensorOfUnknownDtypeKeepsItsPlace) {
  const auto header = read(file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"X9","shape":[4],"data_offsets":[4,8]},)"
                                   R"("c":{"dtype":"U8","shape":[4],"data_offsets":[8]}})",
                                   zeros(12)));
  ASSERT_EQ(header.problem.value_or(HeaderProblem{}).name, "UnknownDtype");
  ASSERT_EQ(header.claimed.size(), 2U);  // the third has no place
  EXPECT_EQ(header.claimed[1].dtype, "X9");
  EXPECT_EQ(header.claimed[1].begin, header.data_offset + 4);
}

TEST(SafetensorsHeader, WhatABrokenHeaderClaimsIsInOrderOfPlace) {
  const auto header = read(file_of(R"({"a":{"dtype":"X9","shape":[4],"data_offsets":[4,8]},"b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", zeros(8)));
  ASSERT_EQ(header.claimed.size(), 2U);
  EXPECT_EQ(header.claimed[0].name, "b");
}

TEST(SafetensorsHeader, SaysWhetherMetadataIsWhatIsBroken) {
  EXPECT_TRUE(read(file_of(R"({"__metadata__":{"a":1}})")).metadata_broken);
  EXPECT_TRUE(read(file_of(R"({"__metadata__":[]})")).metadata_broken);
  EXPECT_FALSE(read(file_of(R"({"__metadata__":{"a":"1"},})")).metadata_broken);
  EXPECT_FALSE(read(file_of(R"({"__metadata__":{"a":"1"}})")).metadata_broken);
}

// A dtype written as an object is an enum to the reference: with one key that it does not know, the key is what it complains of.
TEST(SafetensorsHeader, ADtypeInAnObjectIsJudgedAsTheReferenceJudgesIt) {
  const auto of_dtype = [](const std::string& dtype) {
    return verdict(file_of(R"({"x":{"dtype":)" + dtype + R"(,"shape":[],"data_offsets":[0,8]}})", zeros(8)));
  };
  EXPECT_EQ(of_dtype(R"({"q":[1.5,null,true]})"), "UnknownDtype");
  EXPECT_EQ(of_dtype(R"({"q":1,"r":2})"), "InvalidHeaderDeserialization");
  EXPECT_EQ(of_dtype("{}"), "InvalidHeaderDeserialization");
  EXPECT_EQ(of_dtype(R"({"F64":1})"), "InvalidHeaderDeserialization");
  EXPECT_EQ(of_dtype(R"(["F64"])"), "InvalidHeaderDeserialization");
}

TEST(SafetensorsHeader, UnknownDtypeIsNamedWithItsTensor) {
  const auto problem = problem_of(file_of(one_tensor("F8_XYZ", "[1]", "[0,1]"), zeros(1)));
  EXPECT_EQ(problem.name, "UnknownDtype");
  EXPECT_EQ(problem.tensor, "x");
  EXPECT_EQ(problem.offset, 8U + 1U);
  EXPECT_THAT(problem.text, HasSubstr("invalid JSON in header: unknown variant `F8_XYZ`, expected one of `BOOL`, `F4`, "));
  EXPECT_EQ(verdict(file_of(one_tensor("f32", "[1]", "[0,4]"), zeros(4))), "UnknownDtype");
}

TEST(SafetensorsHeader, EveryDtypeOfTheFormatHasItsBits) {
  const std::map<std::string, unsigned> bits = {{"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
                                                {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
                                                {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
                                                {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}};
  for (const auto& [dtype, count] : bits) {
    EXPECT_EQ(safetensors_dtype_bits(dtype), count) << dtype;
    // Eight elements fill count bytes, whatever the dtype.
    EXPECT_EQ(verdict(file_of(one_tensor(dtype, "[8]", "[0," + std::to_string(count) + "]"), zeros(count))), "ok") << dtype;
    EXPECT_EQ(verdict(file_of(one_tensor(dtype, "[8]", "[0," + std::to_string(count + 1) + "]"), zeros(count + 1))), "TensorInvalidInfo") << dtype;
  }
  EXPECT_FALSE(safetensors_dtype_bits("F128"));
  EXPECT_FALSE(safetensors_dtype_bits(""));
}

TEST(SafetensorsHeader, FieldsOfTheWrongKindAreRefused) {
  const auto with = [](const std::string& entry) { return problem_of(file_of("{\"x\":" + entry + "}", zeros(4))).name; };
  for (const char* entry : {"3",
                            "null",
                            "\"F32\"",
                            "{}",
                            R"({"dtype":"F32","shape":[1]})",
                            R"({"dtype":"F32","data_offsets":[0,4]})",
                            R"({"shape":[1],"data_offsets":[0,4]})",
                            R"({"dtype":3,"shape":[1],"data_offsets":[0,4]})",
                            R"({"dtype":["F32"],"shape":[1],"data_offsets":[0,4]})",
                            R"({"dtype":"F32","shape":1,"data_offsets":[0,4]})",
                            R"({"dtype":"F32","shape":{"a":1},"data_offsets":[0,4]})",
                            R"({"dtype":"F32","shape":[1.0],"data_offsets":[0,4]})",
                            R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})",
                            R"({"dtype":"F32","shape":["1"],"data_offsets":[0,4]})",
                            R"({"dtype":"F32","shape":[[1]],"data_offsets":[0,4]})",
                            R"({"dtype":"F32","shape":[1],"data_offsets":[4]})",
                            R"({"dtype":"F32","shape":[1],"data_offsets":[0,2,4]})",
                            R"({"dtype":"F32","shape":[1],"data_offsets":[0,4.0]})",
                            R"({"dtype":"F32","shape":[1],"data_offsets":[-0,4]})",
                            R"({"dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551616]})",
                            R"({"dtype":"F32","shape":[1],"data_offsets":null})",
                            R"({"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]})",
                            R"(["F32",[1]])",
                            R"(["F32",[1],[0,4],5])"})
    EXPECT_EQ(with(entry), "InvalidHeaderDeserialization") << entry;
}

TEST(SafetensorsHeader, FieldFaultNamesItsTensorAndComesAfterJsonFaults) {
  const auto problem = problem_of(file_of(R"({"ok":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"bad":{"dtype":"U8","shape":[]}})", zeros(1)));
  EXPECT_EQ(problem.tensor, "bad");
  EXPECT_THAT(problem.text, HasSubstr("missing field `data_offsets`"));
  // The unknown dtype stands first, but the text is no JSON.
  EXPECT_EQ(verdict(file_of(R"({"x":{"dtype":"??","shape":[],"data_offsets":[0,1]},"y":)")), "InvalidHeaderDeserialization");
  // Behind the closing brace the field wins.
  EXPECT_EQ(verdict(file_of(R"({"x":{"dtype":"??","shape":[],"data_offsets":[0,1]}}x)")), "UnknownDtype");
}

TEST(SafetensorsHeader, LegalOdditiesOfEntriesAreAccepted) {
  const auto with = [](const std::string& entry) { return verdict(file_of("{\"x\":" + entry + "}", zeros(4))); };
  EXPECT_EQ(with(R"({"dtype":"F32","shape":[],"data_offsets":[0,4]})"), "ok");
  EXPECT_EQ(with(R"({"later":[{"a":1.5}],"data_offsets":[0,4],"shape":[1,1,1],"dtype":"F32","more":null,"more":-1})"), "ok");
  EXPECT_EQ(with(R"(["F32",[1],[0,4]])"), "ok");
  EXPECT_EQ(with(R"({"d\u0074ype":"F\u00332","shape":[1],"data_offsets":[0,4]})"), "ok");
  const auto header =
      read(file_of(R"({"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\u0000é中\"\\":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", zeros(2)));
  ASSERT_EQ(header.tensors.size(), 2U);
  EXPECT_EQ(header.tensors[0].name, "");
  EXPECT_EQ(header.tensors[1].name, std::string("\0", 1) + "é中\"\\");
}

TEST(SafetensorsHeader, MetadataIsNullOrAnObjectOfStrings) {
  const auto with = [](const std::string& metadata) { return verdict(file_of("{\"__metadata__\":" + metadata + "}")); };
  for (const char* good : {"{}", "null", R"({"format":"pt"})", R"({"a":"","a":"b"})"}) EXPECT_EQ(with(good), "ok") << good;
  for (const char* bad : {"[]", "3", "\"pt\"", "true", R"({"format":1})", R"({"format":null})", R"({"format":["pt"]})", R"({"format":{}})"})
    EXPECT_EQ(with(bad), "InvalidHeaderDeserialization") << bad;
  EXPECT_EQ(verdict(file_of(R"({"__metadata__":{},"__metadata__":{}})")), "InvalidHeaderDeserialization");
  EXPECT_EQ(read(file_of(R"({"__metadata__":{"who":"x","format":"pt"}})")).format, "pt");
}

TEST(SafetensorsHeader, HeaderWithoutTensorsIsValid) {
  const auto header = read(file_of("{}      "));
  EXPECT_FALSE(header.problem);
  EXPECT_TRUE(header.tensors.empty());
  EXPECT_EQ(header.data_offset, 16U);
}

TEST(SafetensorsHeader, NestingIsBoundedAt127LevelsLikeTheReference) {
  const auto nested = [](std::size_t levels) {
    return file_of(R"({"x":{"dtype":"U8","shape":[],"data_offsets":[0,0],"z":)" + std::string(levels, '[') + std::string(levels, ']') + "}}");
  };
  EXPECT_EQ(verdict(nested(125)), "TensorInvalidInfo");  // 127 levels with the two objects: read to the end, then the size is wrong
  EXPECT_EQ(verdict(nested(126)), "InvalidHeaderDeserialization");
  EXPECT_EQ(verdict(nested(1'000'000)), "InvalidHeaderDeserialization");
}

TEST(SafetensorsHeader, ReaderErrorsPassThroughAndAShorterFileIsTruncated) {
  const auto failing =
      read_safetensors_header(100, [](std::uint64_t, std::span<std::uint8_t>) -> Result<std::size_t> { return fail(ErrorCode::io, "disk on fire"); });
  ASSERT_FALSE(failing);
  EXPECT_EQ(failing.error().code, ErrorCode::io);
  const std::string file = two_tensors();
  const std::string cut = file.substr(0, 20);
  const auto shorter = read_safetensors_header(file.size(), reader_of(cut));
  ASSERT_FALSE(shorter);
  EXPECT_EQ(shorter.error().code, ErrorCode::truncated);
  EXPECT_EQ(shorter.error().where.offset, 20U);
}

}  // namespace
}  // namespace vouchfs::formats::test
