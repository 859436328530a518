#include "formats/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "formats/json_fields.h"

namespace vouchfs::formats {
namespace {

using ::testing::HasSubstr;

// {"name": text, "sizes": [numbers]}
class Sample {
 public:
  std::string name;
  std::vector<std::uint64_t> sizes;
  Status read(std::string_view text) { return read_json(text, root_); }

 private:
  JsonLeaf name_{"name", take_text("name", 10, [this](std::string&& text) {
                   name = std::move(text);
                   return Status{};
                 })};
  JsonLeaf size_{"sizes", take_number("sizes", 1000, [this](std::uint64_t size) {
                   sizes.push_back(size);
                   return Status{};
                 })};
  JsonList list_{"sizes", 3, size_};
  JsonObject root_ = JsonObject("sample");

 public:
  Sample() { root_.field("name", name_).optional_field("sizes", list_); }
};

std::string error_of(std::string_view text) {
  Sample sample;
  const Status status = sample.read(text);
  if (status) return "ok";
  EXPECT_EQ(status.error().code, ErrorCode::bad_format);
  EXPECT_TRUE(status.error().where.offset.has_value());
  return status.error().message;
}

TEST(JsonReader, FieldsGoWhereTheyBelongAndUnknownOnesAreIgnored) {
  Sample sample;
  ASSERT_TRUE(sample.read(R"( {"sizes":[1,2], "other":{"name":[1.5,{"x":null}]}, "name":"n\u00e9"} )"));
  EXPECT_EQ(sample.name, "né");
  EXPECT_EQ(sample.sizes, (std::vector<std::uint64_t>{1, 2}));
}

TEST(JsonReader, WrongKindsAreRefusedByName) {
  EXPECT_THAT(error_of(R"({"name":1})"), HasSubstr("'name' must be a string, not an integer"));
  EXPECT_THAT(error_of(R"({"name":["a"]})"), HasSubstr("'name' must be a single value, not an array"));
  EXPECT_THAT(error_of(R"({"name":"a","sizes":1})"), HasSubstr("'sizes' must be an array"));
  EXPECT_THAT(error_of(R"({"name":"a","sizes":[1.0]})"), HasSubstr("not a floating point number"));
  EXPECT_THAT(error_of(R"({"name":"a","sizes":[-1]})"), HasSubstr("not a negative number"));
  EXPECT_THAT(error_of(R"([])"), HasSubstr("'sample' must be an object, not an array"));
  EXPECT_THAT(error_of("true"), HasSubstr("'sample' must be an object, not a boolean"));
}

TEST(JsonReader, BoundsAreKept) {
  EXPECT_THAT(error_of(R"({"name":"12345678901"})"), HasSubstr("longer than 10 bytes"));
  EXPECT_THAT(error_of(R"({"name":"a","sizes":[1001]})"), HasSubstr("1001, more than 1000"));
  EXPECT_THAT(error_of(R"({"name":"a","sizes":[1,2,3,4]})"), HasSubstr("more than 3 items"));
}

TEST(JsonReader, KeysThatComeTwiceOrNotAtAllAreRefused) {
  EXPECT_THAT(error_of(R"({"name":"a","name":"a"})"), HasSubstr("'name' comes twice"));
  EXPECT_THAT(error_of(R"({"sizes":[]})"), HasSubstr("'name' is missing"));
  EXPECT_EQ(error_of(R"({"name":"a","x":1,"x":2})"), "ok");
}

TEST(JsonReader, WhatIsNoJsonIsRefusedAtItsByte) {
  const std::string good = R"({"name":"a"})";
  EXPECT_EQ(error_of(good), "ok");
  for (std::size_t size = 0; size < good.size(); ++size) EXPECT_NE(error_of(good.substr(0, size)), "ok") << size;
  for (const std::string& text : {good + "x", good + good, "\xEF\xBB\xBF" + good, good + '\0', good + '\0' + "}", std::string("{\"name\":\"a\xFF\"}"),
                                  std::string("{\"name\":\"a\n\"}"), std::string("{\"name\":\"\\x\"}")})
    EXPECT_NE(error_of(text), "ok") << text;
  Sample sample;
  const Status status = sample.read("{\"name\": ?}");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().where.offset, 9U);
}

TEST(JsonReader, DepthIsBoundedAlsoWhereNobodyLooks) {
  const auto nested = [](std::size_t levels) { return R"({"name":"a","x":)" + std::string(levels, '[') + std::string(levels, ']') + "}"; };
  EXPECT_EQ(error_of(nested(kMaxJsonDepth - 1)), "ok");
  EXPECT_THAT(error_of(nested(kMaxJsonDepth)), HasSubstr("nested deeper than 127"));
  EXPECT_THAT(error_of(R"({"name":"a","x":)" + std::string(1'000'000, '[')), HasSubstr("nested deeper than 127"));
}

TEST(JsonReader, MessagesAreCutAndPrintable) {
  const std::string message = error_of("{\"name\":\"a\"}" + std::string(100'000, '\x1b'));
  EXPECT_LT(message.size(), 1000U);
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

TEST(JsonString, EveryByteIsWrittenAsTheJsonLibraryWritesIt) {
  std::string text;
  for (char c = 0; c < 0x7F; ++c) text += c;
  text += "\x7F é 中 😀 \"quoted\\";
  std::string ours = "x";
  append_json_string(ours, text);
  EXPECT_EQ(ours, "x" + nlohmann::json(text).dump());
}

}  // namespace
}  // namespace vouchfs::formats
