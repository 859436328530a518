#include "seal/fix_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "seal/tensor_table.h"
#include "unit/base/oracle.h"
#include "unit/seal/sample_seal.h"

namespace vouchfs::seal::test {
namespace {

using ::testing::HasSubstr;

// Every kind of piece, in the order of paths.
TensorTable table_with_fixes() {
  TensorTable table = sample_table();
  FileFix bom{"config.json", {kFixBom}, {{"", 3, 700}}, 697, digest_of(5), digest_of(6)};
  FileFix both{"model-00001-of-00002.safetensors",
               {kFixBom, kFixFormat},
               {{std::string("\x00\xFFx", 3), 0, 0}, {"", 11, 20}, {"  ", 0, 0}, {"", 20, 4200}},
               4194,
               digest_of(7),
               digest_of(8)};
  table.fixes = {bom, both};
  return table;
}

std::string refusal(const std::string& text) {
  const auto table = parse_tensor_table(text);
  if (table) return "accepted";
  EXPECT_EQ(table.error().code, ErrorCode::bad_format);
  return table.error().message;
}

std::string changed(const std::function<void(TensorTable&)>& change) {
  TensorTable table = table_with_fixes();
  change(table);
  return refusal(write_tensor_table(table));
}

std::string replaced(const std::string& what, const std::string& by) {
  std::string text = write_tensor_table(table_with_fixes());
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return refusal(text.replace(at, what.size(), by));
}

TEST(FixTable, WhatIsWrittenIsReadBack) {
  const TensorTable table = table_with_fixes();
  const auto read = parse_tensor_table(write_tensor_table(table));
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(read->fixes, table.fixes);
  EXPECT_EQ(write_tensor_table(*read), write_tensor_table(table));
}

TEST(FixTable, TextIsWhatPythonsJsonWritesWithSortedKeysAndNoBlanks) {
  const vouchfs::test::TemporaryFolder folder;
  const std::string text = write_tensor_table(table_with_fixes());
  const std::string path = folder.write("table.json", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  EXPECT_EQ(vouchfs::test::run_tool({"python3", "-c",
                                     "import json,sys; sys.stdout.buffer.write((json.dumps(json.load(open(sys.argv[1],encoding='utf-8')),sort_keys=True,"
                                     "separators=(',',':'),ensure_ascii=False)+'\\n').encode())",
                                     path}),
            text);
}

// A reader that knows no fixes would show other bytes under the same digest: it must refuse.
TEST(FixTable, VersionIsTwoWithFixesAndOneWithout) {
  EXPECT_THAT(write_tensor_table(table_with_fixes()), HasSubstr("\"version\":2}"));
  EXPECT_THAT(write_tensor_table(sample_table()), HasSubstr("\"version\":1}"));
  EXPECT_THAT(replaced("\"version\":2", "\"version\":1"), HasSubstr("version is 1; that of a table with fixes is 2"));
  EXPECT_THAT(replaced("\"version\":2", "\"version\":3"), HasSubstr("version is 3"));
  EXPECT_THAT(replaced("\"fixes\":", "\"other\":"), HasSubstr("version is 2; that of a table without fixes is 1"));
}

TEST(FixTable, PathsAreSortedSafeAndUnique) {
  EXPECT_EQ(changed([](TensorTable&) {}), "accepted");
  for (const char* path : {"", "../x", "/etc/passwd", "a//b", "z"}) EXPECT_NE(changed([&](TensorTable& t) { t.fixes[0].path = path; }), "accepted") << path;
  EXPECT_THAT(changed([](TensorTable& t) { t.fixes[1].path = t.fixes[0].path; }), HasSubstr("comes twice"));
}

TEST(FixTable, KindsAreKnownSortedAndAtLeastOne) {
  for (const auto& kinds : std::vector<std::vector<std::string>>{{}, {"other"}, {kFixFormat, kFixBom}, {kFixBom, kFixBom}})
    EXPECT_NE(changed([&](TensorTable& t) { t.fixes[1].kinds = kinds; }), "accepted");
}

TEST(FixTable, PiecesAreNeitherEmptyNorTwoThingsAtOnceNorTooMany) {
  EXPECT_THAT(replaced(R"({"begin":3,"end":700})", "{}"), HasSubstr("a piece must have"));
  EXPECT_THAT(replaced(R"({"begin":3,"end":700})", R"({"begin":700,"end":3})"), HasSubstr("a piece must have"));
  EXPECT_THAT(replaced(R"({"begin":3,"end":700})", R"({"begin":3,"bytes":"00","end":700})"), HasSubstr("a piece must have"));
  EXPECT_THAT(replaced(R"({"begin":3,"end":700})", R"({"bytes":""})"), HasSubstr("a piece must have"));
  EXPECT_THAT(replaced(R"({"begin":3,"end":700})", R"({"begin":3,"end":1152921504606846977})"), HasSubstr("more than"));
  EXPECT_THAT(changed([](TensorTable& t) { t.fixes[0].pieces.assign(kMaxFixPieces + 1, {"x", 0, 0}); }), HasSubstr("pieces"));
  EXPECT_NE(changed([](TensorTable& t) { t.fixes[0].pieces = {{std::string(kMaxLiteralBytes + 1, 'x'), 0, 0}}; }), "accepted");
}

TEST(FixTable, LiteralsArePairsOfLowerCaseHexDigits) {
  EXPECT_EQ(replaced("\"00ff78\"", "\"00ff79\""), "accepted");
  for (const char* hex : {"\"00ff7\"", "\"00FF78\"", "\"00ff7g\"", "\"00ff 8\""}) EXPECT_THAT(replaced("\"00ff78\"", hex), HasSubstr("hex digits")) << hex;
}

TEST(FixTable, SizeIsTheSumOfThePiecesAndMayNotWrapRound) {
  EXPECT_THAT(changed([](TensorTable& t) { t.fixes[0].bytes = 698; }), HasSubstr("have 697 bytes, but its size is 698"));
  EXPECT_NE(changed([](TensorTable& t) { t.fixes[0] = {"config.json", {kFixBom}, std::vector<FixPiece>(16, {"", 0, kMaxFileBytes}), 0, {}, {}}; }), "accepted");
}

TEST(FixTable, EveryCutIsRefused) {
  const std::string text = write_tensor_table(table_with_fixes());
  for (std::size_t size = 0; size + 1 < text.size(); ++size) ASSERT_NE(refusal(text.substr(0, size)), "accepted") << size;
}

TEST(FindFix, FindsExactlyTheFilesThatAreMended) {
  const TensorTable table = table_with_fixes();
  EXPECT_EQ(find_fix(table, "config.json"), &table.fixes[0]);
  EXPECT_EQ(find_fix(table, "model-00001-of-00002.safetensors"), &table.fixes[1]);
  for (const char* path : {"", "config.jso", "config.json2", "z"}) EXPECT_EQ(find_fix(table, path), nullptr) << path;
  EXPECT_EQ(find_fix(TensorTable{}, "config.json"), nullptr);
}

TEST(IndexFamilyInTheTable, IsWrittenForOthersThanSafetensorsAndSafetensorsWhenAbsent) {
  TensorTable table = sample_table();
  EXPECT_EQ(write_tensor_table(table).find("family"), std::string::npos) << "seals of before keep their digest";
  table.indexes[0].family = formats::IndexFamily::tf;
  const std::string text = write_tensor_table(table);
  const auto read = parse_tensor_table(text);
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(read->indexes, table.indexes);
  std::string other = text;
  EXPECT_THAT(refusal(other.replace(other.find("\"tf\""), 4, "\"jax\"")), HasSubstr("'jax' is unknown"));
}

}  // namespace
}  // namespace vouchfs::seal::test
