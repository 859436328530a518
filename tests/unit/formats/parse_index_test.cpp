#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "formats/shard_index.h"

namespace vouchfs::formats {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(ParseIndex, GoodIndexGivesMapTotalAndSortedMetadata) {
  const auto index = parse_index(R"({
    "weight_map": {"b": "two.safetensors", "a": "one.safetensors"},
    "metadata": {"total_size": 123, "who": "é", "a": [1, 2.5, {"y": null, "x": true}]}, "else": 1
  })");
  EXPECT_THAT(index.problems, IsEmpty());
  EXPECT_THAT(index.weight_map, ElementsAre(Pair("a", "one.safetensors"), Pair("b", "two.safetensors")));
  EXPECT_EQ(index.total_size, 123U);
  EXPECT_EQ(index.metadata, R"({"a":[1,2.5,{"x":true,"y":null}],"total_size":123,"who":"é"})");
}

TEST(ParseIndex, MetadataIsFoundBehindEscapedKeysAndDecoys) {
  const auto index = parse_index(R"({"x":{"metadata":{"total_size":1}},"metadat\u0061":{"total_size":2},"weight_map":{"metadata":"f"}})");
  EXPECT_THAT(index.problems, IsEmpty());
  EXPECT_EQ(index.metadata, R"({"total_size":2})");
}

TEST(ParseIndex, TotalSizeMayBeAnIntegerWrittenAsFloat) {
  EXPECT_EQ(parse_index(R"({"metadata":{"total_size":4096.0},"weight_map":{}})").total_size, 4096U);
  EXPECT_EQ(parse_index(R"({"metadata":{"total_size":18446744073709551615},"weight_map":{}})").total_size, std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(parse_index(R"({"metadata":{},"weight_map":{}})").total_size);
  EXPECT_THAT(parse_index(R"({"metadata":{},"weight_map":{}})").problems, IsEmpty());
  for (const char* bad : {"1.5", "-1", "\"1\"", "null", "1e30", "[1]"}) {
    const auto index = parse_index(R"({"metadata":{"total_size":)" + std::string(bad) + R"(},"weight_map":{"a":"b"}})");
    EXPECT_FALSE(index.total_size) << bad;
    EXPECT_THAT(index.problems, ElementsAre(HasSubstr("metadata.total_size is"))) << bad;
    EXPECT_EQ(index.weight_map.size(), 1U);
  }
}

TEST(ParseIndex, MissingKeysAreProblemsAndTheRestIsKept) {
  const auto no_metadata = parse_index(R"({"weight_map":{"a":"b"}})");
  EXPECT_THAT(no_metadata.problems, ElementsAre("the key metadata is missing"));
  EXPECT_EQ(no_metadata.weight_map.size(), 1U);
  EXPECT_EQ(no_metadata.metadata, "{}");
  EXPECT_THAT(parse_index(R"({"metadata":{}})").problems, ElementsAre("the key weight_map is missing"));
  EXPECT_EQ(parse_index("{}").problems.size(), 2U);
}

TEST(ParseIndex, ValuesOfTheWrongKindAreProblems) {
  EXPECT_THAT(parse_index(R"({"metadata":{},"weight_map":{"a":1,"b":["x"],"c":"f"}})").problems,
              ElementsAre(HasSubstr("'a' maps to an integer"), HasSubstr("'b' maps to an array")));
  EXPECT_THAT(parse_index(R"({"metadata":{},"weight_map":[]})").problems, ElementsAre("weight_map is an array instead of an object"));
  EXPECT_THAT(parse_index(R"({"metadata":{},"weight_map":null})").problems, ElementsAre("weight_map is null instead of an object"));
  EXPECT_THAT(parse_index(R"({"metadata":3,"weight_map":{}})").problems, ElementsAre("metadata is an integer instead of an object"));
  EXPECT_THAT(parse_index(R"({"metadata":[{}],"weight_map":{}})").problems, ElementsAre("metadata is an array instead of an object"));
}

TEST(ParseIndex, TensorListedTwiceIsAProblemOnlyWhenTheFilesDiffer) {
  const auto differ = parse_index(R"({"metadata":{},"weight_map":{"a":"f","a":"g"}})");
  EXPECT_THAT(differ.problems, ElementsAre(HasSubstr("'a' is listed twice: in 'f' and in 'g'")));
  EXPECT_EQ(differ.weight_map.at("a"), "g");
  EXPECT_THAT(parse_index(R"({"metadata":{},"weight_map":{"a":"f","a":"f"}})").problems, IsEmpty());
  EXPECT_EQ(parse_index(R"({"metadata":{"total_size":1},"metadata":3,"weight_map":{}})").metadata, "{}");
}

TEST(ParseIndex, WhatIsNoJsonSaysWhatItLooksLike) {
  const auto problem = [](std::string_view text) {
    const auto index = parse_index(text);
    EXPECT_THAT(index.weight_map, IsEmpty());
    EXPECT_EQ(index.metadata, "{}");
    return index.problems.size() == 1 ? index.problems.front() : "none or several";
  };
  EXPECT_EQ(problem(""), "the file is empty");
  EXPECT_EQ(problem(" \n"), "the file holds nothing but blanks");
  EXPECT_THAT(problem("<!DOCTYPE html>"), HasSubstr("web page"));
  EXPECT_THAT(problem("version https://git-lfs.github.com/spec/v1\noid sha256:0"), HasSubstr("Git LFS pointer"));
  EXPECT_THAT(problem(std::string(100, '\0')), HasSubstr("zero bytes"));
  EXPECT_THAT(problem(R"({"metadata":{},"weight_map":{"a":"f",)"), HasSubstr("at byte 37"));
  EXPECT_THAT(problem("[1]"), HasSubstr("an array instead of an object"));
  EXPECT_THAT(problem("\"x\""), HasSubstr("a string instead of an object"));
  EXPECT_THAT(problem("{\"metadata\":{\"x\":\"\xFF\"},\"weight_map\":{}}"), HasSubstr("not a valid index"));
}

TEST(ParseIndex, ByteOrderMarkIsAProblemAndTheRestIsRead) {
  const auto index = parse_index("\xEF\xBB\xBF{\"metadata\":{\"total_size\":7},\"weight_map\":{\"a\":\"f\"}}");
  EXPECT_THAT(index.problems, ElementsAre(HasSubstr("byte order mark")));
  EXPECT_EQ(index.total_size, 7U);
  EXPECT_EQ(index.metadata, R"({"total_size":7})");
  EXPECT_EQ(index.weight_map.at("a"), "f");
}

TEST(ParseIndex, HostileTextIsBounded) {
  EXPECT_THAT(parse_index(R"({"metadata":)" + std::string(1'000'000, '[')).problems, ElementsAre(HasSubstr("nested deeper")));
  std::string many = R"({"metadata":{},"weight_map":{)";
  for (int i = 0; i < 10'000; ++i) many += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  const auto problems = parse_index(many + "}}").problems;
  EXPECT_EQ(problems.size(), 101U);
  EXPECT_EQ(problems.back(), "and 9900 more problems");
  const auto large = parse_index(R"({"metadata":{"x":")" + std::string(2 << 20, 'x') + R"(","total_size":5},"weight_map":{}})");
  EXPECT_EQ(large.metadata, "{}");
  EXPECT_EQ(large.total_size, 5U);
  EXPECT_THAT(large.problems, IsEmpty());
}

}  // namespace
}  // namespace vouchfs::formats
