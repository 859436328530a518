#include "seal/tensor_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "unit/base/oracle.h"
#include "unit/seal/sample_seal.h"

namespace vouchfs::seal::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool same(const TableFile& a, const TableFile& b) {
  const auto text = [](const TableFile& file) {
    return file.problem ? file.problem->name + "|" + file.problem->text + "|" + file.problem->detail + "|" + file.problem->tensor + "|" +
                              std::to_string(file.problem->offset)
                        : "";
  };
  return a.path == b.path && a.format == b.format && a.tensors == b.tensors && text(a) == text(b);
}

std::string refusal(const std::string& text) {
  const auto table = parse_tensor_table(text);
  if (table) return "accepted";
  EXPECT_EQ(table.error().code, ErrorCode::bad_format);
  return table.error().message;
}

std::string refusal(const TensorTable& table) { return refusal(write_tensor_table(table)); }

TEST(TensorTable, WhatIsWrittenIsReadBack) {
  const TensorTable table = sample_table();
  const auto read = parse_tensor_table(write_tensor_table(table));
  ASSERT_TRUE(read) << read.error().describe();
  ASSERT_EQ(read->files.size(), table.files.size());
  for (std::size_t i = 0; i < table.files.size(); ++i) EXPECT_TRUE(same(read->files[i], table.files[i])) << i;
  EXPECT_EQ(read->indexes, table.indexes);
  EXPECT_EQ(write_tensor_table(*read), write_tensor_table(table));
  EXPECT_EQ(refusal(TensorTable{}), "accepted");
}

TEST(TensorTable, TextIsWhatPythonsJsonWritesWithSortedKeysAndNoBlanks) {
  const vouchfs::test::TemporaryFolder folder;
  const std::string text = write_tensor_table(sample_table());
  const std::string path = folder.write("table.json", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  EXPECT_EQ(vouchfs::test::run_tool({"python3", "-c",
                                     "import json,sys; sys.stdout.buffer.write((json.dumps(json.load(open(sys.argv[1],encoding='utf-8')),sort_keys=True,"
                                     "separators=(',',':'),ensure_ascii=False)+'\\n').encode())",
                                     path}),
            text);
}

TEST(TensorTable, EveryCutIsRefused) {
  const std::string text = write_tensor_table(sample_table());
  for (std::size_t size = 0; size + 1 < text.size(); ++size) EXPECT_NE(refusal(text.substr(0, size)), "accepted") << size;
}

TEST(TensorTable, EveryKnownKeyIsNeededExceptTheOptionalOnes) {
  const std::string text = write_tensor_table(sample_table());
  for (const char* key : {"files",    "format",        "indexes",    "version",        "path",    "tensors", "begin",       "dtype",   "end",
                          "name",     "shape",         "detail",     "offset",         "tensor",  "text",    "folder",      "verdict", "metadata",
                          "problems", "missing_files", "duplicates", "absent_weights", "choices", "members", "corrections", "now",     "was"}) {
    const std::string quoted = "\"" + std::string(key) + "\":";
    std::string without = text;
    const auto at = without.find(quoted);
    ASSERT_NE(at, std::string::npos) << key;
    EXPECT_THAT(refusal(without.replace(at, quoted.size(), "\"other\":")), HasSubstr("is missing")) << key;
  }
}

TEST(TensorTable, FilesMustBeSortedSafeAndUnique) {
  const auto with = [](const std::vector<std::string>& paths) {
    TensorTable table;
    for (const std::string& path : paths) table.files.push_back({path, "safetensors", {}, std::nullopt});
    return refusal(table);
  };
  EXPECT_EQ(with({"a", "b/c"}), "accepted");
  for (const auto& paths : std::vector<std::vector<std::string>>{{"b", "a"}, {"a", "a"}, {"../a"}, {"/a"}, {""}, {"a//b"}})
    EXPECT_NE(with(paths), "accepted") << paths.front();
}

TEST(TensorTable, TensorsMustBeInOrderAndMayNotOverlap) {
  const auto with = [](const std::vector<formats::Tensor>& tensors) {
    TensorTable table;
    table.files.push_back({"a", "safetensors", tensors, std::nullopt});
    return refusal(table);
  };
  EXPECT_EQ(with({{"x", "U8", {}, 0, 5}, {"y", "U8", {}, 5, 9}, {"z", "U8", {}, 20, kMaxFileBytes}}), "accepted");
  EXPECT_THAT(with({{"x", "U8", {}, 5, 0}}), HasSubstr("ends before it begins"));
  EXPECT_THAT(with({{"x", "U8", {}, 5, 9}, {"y", "U8", {}, 0, 5}}), HasSubstr("not in order"));
  EXPECT_THAT(with({{"x", "U8", {}, 0, 5}, {"y", "U8", {}, 4, 9}}), HasSubstr("overlaps 'x'"));
  EXPECT_THAT(with({{"x", "U8", {}, 0, 5}, {"x", "U8", {}, 0, 5}}), HasSubstr("not in order"));
  EXPECT_THAT(with({{"x", "U8", {}, 0, kMaxFileBytes + 1}}), HasSubstr("more than"));
}

// Tied weights, and views of one storage.
TEST(TensorTable, TensorsOfTorchFilesMayOverlapAndOthersMayNotWhereverTheFormatStands) {
  const std::vector<formats::Tensor> tied = {{"all", "float32", {10}, 0, 40}, {"head", "float32", {5}, 0, 40}, {"view", "float32", {1}, 4, 8}};
  const auto with = [&](const char* format) {
    TensorTable table;
    table.files.push_back({"a", format, tied, std::nullopt});
    return table;
  };
  const auto format_last = [&](const std::string& format) {
    std::string text = write_tensor_table(with(format.c_str()));
    const std::string field = "\"format\":\"" + format + "\"";
    text.erase(text.find(field), field.size() + 1);
    const std::string rest = "}],\"format\":\"vouchfs-tensors\"";
    return text.insert(text.find(rest), "," + field);
  };
  EXPECT_EQ(refusal(with("torch")), "accepted");
  EXPECT_EQ(refusal(format_last("torch")), "accepted");
  for (const char* format : {"safetensors", "gguf", "", "other"}) {
    EXPECT_THAT(refusal(with(format)), HasSubstr("overlaps 'all'")) << format;
    EXPECT_THAT(refusal(format_last(format)), HasSubstr("overlaps 'all'")) << format;
  }
  auto backwards = with("torch");
  std::swap(backwards.files[0].tensors[0], backwards.files[0].tensors[2]);
  EXPECT_THAT(refusal(backwards), HasSubstr("not in order"));
}

TEST(TensorTable, IndexRecordsAreChecked) {
  const auto with = [](const std::function<void(formats::IndexRecord&)>& change) {
    TensorTable table = sample_table();
    change(table.indexes[1]);
    return refusal(table);
  };
  EXPECT_EQ(with([](auto&) {}), "accepted");
  EXPECT_NE(with([](auto& r) { r.folder = ".."; }), "accepted");
  EXPECT_NE(with([](auto& r) { r.file_name = "a/b.index.json"; }), "accepted");
  EXPECT_NE(with([](auto& r) { r.file_name = ".."; }), "accepted");
  EXPECT_NE(with([](auto& r) { r.folder = ""; }), "accepted");  // then it comes twice
  EXPECT_NE(with([](auto& r) { r.members = {"b", "a"}; }), "accepted");
  EXPECT_NE(with([](auto& r) { r.members = {"../b"}; }), "accepted");
  EXPECT_NE(with([](auto& r) { r.missing_files = {"a", "a"}; }), "accepted");
  EXPECT_NE(with([](auto& r) { r.unknown_files = {"/a"}; }), "accepted");
  EXPECT_NE(with([](auto& r) { r.duplicates = {"b", "a"}; }), "accepted");
  EXPECT_NE(with([](auto& r) { r.absent_weights = {{"a", "/b"}}; }), "accepted");
  EXPECT_NE(with([](auto& r) { r.corrections = {{"b", "", ""}, {"a", "", ""}}; }), "accepted");
  for (const char* metadata : {"", "[]", "3", "{", "{} x", "{\"a\":}"}) EXPECT_NE(with([&](auto& r) { r.metadata = metadata; }), "accepted") << metadata;
}

TEST(TensorTable, OtherVersionFormatOrVerdictIsRefused) {
  const auto replaced = [](const std::string& what, const std::string& by) {
    std::string text = write_tensor_table(sample_table());
    return refusal(text.replace(text.find(what), what.size(), by));
  };
  EXPECT_THAT(replaced("\"version\":1", "\"version\":2"), HasSubstr("version is 2"));
  EXPECT_THAT(replaced("vouchfs-tensors", "vouchfs-tensor"), HasSubstr("format is 'vouchfs-tensor'"));
  EXPECT_THAT(replaced("\"verdict\":\"wrong\"", "\"verdict\":\"fine\""), HasSubstr("'fine' is unknown"));
  EXPECT_NE(replaced("\"offset\":9", "\"offset\":9.0"), "accepted");
  EXPECT_NE(replaced("\"offset\":9", "\"offset\":9,\"offset\":9"), "accepted");
  EXPECT_NE(replaced("\"problem\":{", "\"tensors\":[],\"problem\":{"), "accepted");
}

TEST(TensorTable, BrokenFileMayNotHaveTensors) {
  TensorTable table = sample_table();
  table.files[0].tensors = {{"x", "U8", {}, 0, 1}};
  EXPECT_THAT(refusal(table), HasSubstr("tensors and a broken header"));
}

TEST(TensorsIn, NamesExactlyTheTensorsThatTheBytesCut) {
  TableFile file;
  file.tensors = {{"a", "U8", {10}, 100, 110}, {"none", "U8", {0}, 110, 110}, {"b", "U8", {10}, 110, 120}, {"c", "U8", {10}, 120, 130}};
  EXPECT_THAT(tensors_in(file, 0, 100), IsEmpty());
  EXPECT_THAT(tensors_in(file, 0, 101), ElementsAre("a"));
  EXPECT_THAT(tensors_in(file, 109, 1), ElementsAre("a"));
  EXPECT_THAT(tensors_in(file, 109, 2), ElementsAre("a", "b"));
  EXPECT_THAT(tensors_in(file, 110, 1), ElementsAre("b"));
  EXPECT_THAT(tensors_in(file, 105, 20), ElementsAre("a", "b", "c"));
  EXPECT_THAT(tensors_in(file, 129, UINT64_MAX), ElementsAre("c"));
  EXPECT_THAT(tensors_in(file, 130, 4096), IsEmpty());
  EXPECT_THAT(tensors_in(file, 115, 0), IsEmpty());
  EXPECT_THAT(tensors_in(TableFile{}, 0, UINT64_MAX), IsEmpty());
}

TEST(TensorsIn, AgreesWithAPlainScanOverManyTensors) {
  TableFile file;
  std::uint64_t at = 64;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(i * 7919 % 13);
    file.tensors.push_back({std::to_string(i), "U8", {bytes}, at, at + bytes});
    at += bytes;
  }
  for (std::uint64_t offset = 0; offset < at + 20; offset += 3)
    for (const std::uint64_t length : {1U, 5U, 64U}) {
      std::vector<std::string> expected;
      for (const auto& tensor : file.tensors)
        if (tensor.begin < offset + length && tensor.end > offset && tensor.end > tensor.begin) expected.push_back(tensor.name);
      EXPECT_EQ(tensors_in(file, offset, length), expected) << offset << " + " << length;
    }
}

// Against a plain scan: tensors of all sizes that begin anywhere, some over the whole file.
TEST(TensorsIn, AgreesWithAPlainScanWhereTensorsOverlap) {
  TableFile file;
  file.format = "torch";
  file.tensors.push_back({"whole", "uint8", {}, 0, 1000});
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::uint64_t begin = i * 7919 % 900;
    file.tensors.push_back({std::to_string(i), "uint8", {}, begin, begin + i * 31 % 90});
  }
  std::sort(file.tensors.begin(), file.tensors.end(),
            [](const auto& a, const auto& b) { return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name); });
  const auto scan = [&](std::uint64_t offset, std::uint64_t length) {
    std::vector<std::string> names;
    for (const auto& tensor : file.tensors)
      if (tensor.begin < offset + length && tensor.end > offset && tensor.end > tensor.begin) names.push_back(tensor.name);
    return names;
  };
  for (const bool indexed : {false, true}) {
    if (indexed) index_overlaps(file);
    EXPECT_EQ(file.reach.size(), indexed ? file.tensors.size() : 0U);
    for (std::uint64_t offset = 0; offset < 1100; offset += 3)
      for (const std::uint64_t length : {1U, 5U, 64U}) EXPECT_EQ(tensors_in(file, offset, length), scan(offset, length)) << offset << " + " << length;
  }
}

TEST(TensorsIn, ParsedTorchFilesAreSearchedAndNotScanned) {
  TensorTable table;
  table.files.push_back({"a.bin", "torch", {}, std::nullopt});
  for (std::uint64_t i = 0; i < 1000; ++i) table.files[0].tensors.push_back({std::to_string(i), "uint8", {}, i * 10, i * 10 + 15});
  const auto parsed = parse_tensor_table(write_tensor_table(table));
  ASSERT_TRUE(parsed) << parsed.error().describe();
  const TableFile& file = parsed->files[0];
  ASSERT_EQ(file.reach.size(), 1000U);
  EXPECT_TRUE(std::is_sorted(file.reach.begin(), file.reach.end()));
  EXPECT_EQ(file.reach.back(), 10005U);
  EXPECT_THAT(tensors_in(file, 5000, 1), ElementsAre("499", "500"));
}

}  // namespace
}  // namespace vouchfs::seal::test
