#include "view/synthesized_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <nlohmann/json.hpp>

namespace vouchfs::view {
namespace {

using formats::IndexRecord;
using formats::IndexVerdict;
using formats::Tensor;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// A tensor of F32 with this shape somewhere in its file; only bytes and shape matter here.
Tensor f32(const std::string& name, const std::vector<std::uint64_t>& shape) {
  std::uint64_t bytes = 4;
  for (const std::uint64_t dimension : shape) bytes *= dimension;
  return {name, "F32", shape, 1000, 1000 + bytes};
}

// The tensors lie one behind the other, as in a file.
seal::TableFile shard(const std::string& path, std::vector<Tensor> tensors) {
  std::uint64_t at = 1000;
  for (Tensor& tensor : tensors) {
    tensor.end = at + tensor.bytes();
    tensor.begin = std::exchange(at, tensor.end);
  }
  return {path, "safetensors", std::move(tensors), std::nullopt};
}

seal::OpenedSeal seal_of(std::vector<seal::TableFile> files, std::vector<IndexRecord> indexes = {}) {
  seal::OpenedSeal seal;
  for (const auto& file : files)
    seal.manifest.files.push_back({file.path, 4242, hash::sha256(std::string_view("v" + file.path)), hash::sha256(std::string_view(file.path))});
  seal.table.files = std::move(files);
  seal.table.indexes = std::move(indexes);
  seal.model_digest.fill(0xab);
  return seal;
}

IndexRecord record_of(const std::string& folder, IndexVerdict verdict, std::vector<std::string> members) {
  IndexRecord record;
  record.folder = folder;
  record.file_name = "model.safetensors.index.json";
  record.verdict = verdict;
  record.members = std::move(members);
  return record;
}

json root_of(const seal::OpenedSeal& seal) { return json::parse(root_index(seal)); }

// --- the root index.json ----------------------------------------------------------------------------------------------------

TEST(RootIndex, OfOneFileIsWholeAndExact) {
  const auto seal = seal_of({shard("model.safetensors", {f32("b", {2, 3}), f32("a", {})})});
  const json expected = {{"metadata",
                          {{"total_size", 28},
                           {"total_parameters", 7},
                           {"vouchfs",
                            {{"model_digest", "sha256:abababababababababababababababababababababababababababababababab"},
                             {"files",
                              {{{"path", "model.safetensors"},
                                {"size", 4242},
                                {"fsverity", hash::to_hex(hash::sha256(std::string_view("vmodel.safetensors")))},
                                {"sha256", hash::to_hex(hash::sha256(std::string_view("model.safetensors")))}}}},
                             {"ambiguous", json::object()},
                             {"missing_files", json::array()},
                             {"broken_files", json::array()},
                             {"indexes", json::array()}}}}},
                         {"weight_map", {{"a", "model.safetensors"}, {"b", "model.safetensors"}}}};
  EXPECT_EQ(root_of(seal), expected);
}

TEST(RootIndex, OfAModelWithoutTensorsHasAnEmptyWeightMap) {
  const json index = root_of(seal_of({}));
  EXPECT_EQ(index["weight_map"], json::object());
  EXPECT_EQ(index["metadata"]["total_size"], 0);
  EXPECT_EQ(index["metadata"]["total_parameters"], 0);
}

TEST(RootIndex, IsSortedBytewiseAndEndsWithOneNewline) {
  const auto seal = seal_of({shard("m", {f32("b", {}), f32("\xc3\xa9", {}), f32("B", {}), f32("a.b", {}), f32("a", {}), f32("a/b", {})})});
  const std::string text = root_index(seal);
  EXPECT_EQ(text.find("\n\n"), std::string::npos);
  EXPECT_EQ(text.back(), '\n');
  std::size_t at = text.find("\"weight_map\"");
  for (const char* name : {"\"B\"", "\"a\"", "\"a.b\"", "\"a/b\"", "\"b\"", "\"\xc3\xa9\""}) {
    const std::size_t next = text.find(name, at);
    ASSERT_NE(next, std::string::npos) << name << " stands before its predecessor";
    at = next;
  }
  EXPECT_EQ(root_index(seal), text);
}

TEST(RootIndex, CoversNestedFoldersRelativeToTheRoot) {
  const json index = root_of(seal_of({shard("text_encoder/model.safetensors", {f32("t", {4})}), shard("unet/deep/a.safetensors", {f32("u", {5, 5})})}));
  EXPECT_EQ(index["weight_map"], json::parse(R"({"t": "text_encoder/model.safetensors", "u": "unet/deep/a.safetensors"})"));
  EXPECT_EQ(index["metadata"]["total_size"], 16 + 100);
  EXPECT_EQ(index["metadata"]["total_parameters"], 29);
}

TEST(RootIndex, ListsANameOfSeveralFilesAsAmbiguousAndNamesTheFirst) {
  const json index = root_of(seal_of({shard("a/m", {f32("w", {1}), f32("only_a", {1})}), shard("b/m", {f32("w", {2})}), shard("c/m", {f32("w", {3})})}));
  EXPECT_EQ(index["weight_map"], json::parse(R"({"w": "a/m", "only_a": "a/m"})"));
  EXPECT_EQ(index["metadata"]["vouchfs"]["ambiguous"], json::parse(R"({"w": ["a/m", "b/m", "c/m"]})"));
  EXPECT_EQ(index["metadata"]["total_size"], 4 + 4 + 8 + 12) << "every tensor of every file counts";
}

TEST(RootIndex, KeepsTensorsOfMissingShardsUnderThePublishersFile) {
  auto record = record_of("sub", IndexVerdict::right, {"m1"});
  record.missing_files = {"m2", "m3"};
  record.absent_weights = {{"gone", "m2"}};
  const json index = root_of(seal_of({shard("sub/m1", {f32("here", {1})})}, {record}));
  EXPECT_EQ(index["weight_map"], json::parse(R"({"gone": "sub/m2", "here": "sub/m1"})"));
  EXPECT_EQ(index["metadata"]["vouchfs"]["missing_files"], json::parse(R"(["sub/m2", "sub/m3"])"));
  EXPECT_EQ(index["metadata"]["total_size"], 4) << "only what is there has a known size";
}

TEST(RootIndex, PrefersAFileThatIsThereAndTellsOfTheOther) {
  auto record = record_of("b", IndexVerdict::right, {"m1"});
  record.missing_files = {"m2"};
  record.absent_weights = {{"w", "m2"}};
  const json index = root_of(seal_of({shard("b/m1", {f32("v", {1})}), shard("z/m", {f32("w", {1})})}, {record}));
  EXPECT_EQ(index["weight_map"]["w"], "z/m");
  EXPECT_EQ(index["metadata"]["vouchfs"]["ambiguous"], json::parse(R"({"w": ["z/m", "b/m2"]})"));
}

TEST(RootIndex, NeverRepeatsAFileNameThatLeadsOutOfTheModel) {
  auto record = record_of("", IndexVerdict::wrong, {"m1"});
  record.absent_weights = {{"a", "../../etc/passwd"}, {"b", "/etc/passwd"}, {"c", "x/../../y"}, {"d", ""}, {"e", "m2"}};
  const auto seal = seal_of({shard("m1", {f32("w", {1})})}, {record});
  const json expected = json::parse(R"({"e": "m2", "w": "m1"})");
  EXPECT_EQ(root_of(seal)["weight_map"], expected);
  EXPECT_EQ(json::parse(folder_index(seal.table, record))["weight_map"], expected);
}

TEST(RootIndex, NamesBrokenFilesAndWhatBecameOfEachIndex) {
  auto broken = shard("bad.safetensors", {});
  broken.problem = formats::HeaderProblem{"HeaderTooLarge", "header too large", "the header length is 2^60", {}, 0};
  auto wrong = record_of("", IndexVerdict::wrong, {});
  wrong.problems = {"no key metadata"};
  const json own = root_of(seal_of({broken}, {wrong, record_of("u", IndexVerdict::right, {})}))["metadata"]["vouchfs"];
  EXPECT_EQ(own["broken_files"], json::parse(R"([{"path": "bad.safetensors", "problem": "HeaderTooLarge", "detail": "the header length is 2^60"}])"));
  EXPECT_EQ(own["indexes"], json::parse(R"([{"path": "model.safetensors.index.json", "state": "corrected", "problems": ["no key metadata"]},
                                            {"path": "u/model.safetensors.index.json", "state": "right", "problems": []}])"));
}

TEST(RootIndex, TakesAnyNameThatJsonCanHold) {
  const std::vector<std::string> names = {"", "\"q\\", "\n\t\x01", "\xe4\xb8\xad \xf0\x9f\x98\x80", std::string(3000, 'n'), "__metadata", "weight_map"};
  std::vector<Tensor> tensors;
  for (const auto& name : names) tensors.push_back(f32(name, {0, 7}));
  const json index = root_of(seal_of({shard("\xc3\xa9 \"x\".safetensors", tensors)}));
  ASSERT_EQ(index["weight_map"].size(), names.size());
  for (const auto& name : names) EXPECT_EQ(index["weight_map"][name], "\xc3\xa9 \"x\".safetensors");
  EXPECT_EQ(index["metadata"]["total_parameters"], 0) << "a dimension of 0 holds nothing";
}

TEST(RootIndex, DoesNotWrapOnAbsurdShapes) {
  const Tensor absurd = {"x", "F32", {1ULL << 40, 1ULL << 40}, 0, 4};
  const json index = root_of(seal_of({shard("m", {absurd, absurd})}));
  EXPECT_EQ(index["metadata"]["total_parameters"], std::numeric_limits<std::uint64_t>::max());
}

// --- the index of a folder --------------------------------------------------------------------------------------------------

TEST(FolderIndex, SynthesizedFromHeadersAlone) {
  const auto record = record_of("unet", IndexVerdict::absent, {"m1", "m2"});
  const auto seal =
      seal_of({shard("other/m1", {f32("x", {9})}), shard("unet/m1", {f32("b", {2})}), shard("unet/m2", {f32("a", {3})}), shard("unet/m3", {f32("stray", {4})})},
              {record});
  EXPECT_EQ(folder_index(seal.table, record),
            "{\n  \"metadata\": {\n    \"total_size\": 20\n  },\n  \"weight_map\": {\n    \"a\": \"m2\",\n    \"b\": \"m1\"\n  }\n}\n");
}

TEST(FolderIndex, CorrectedKeepsThePublishersOtherMetadata) {
  auto record = record_of("", IndexVerdict::wrong, {"m1"});
  record.metadata = R"({"total_size": 1, "who": "publisher", "z": [1.5, null]})";
  record.published_total_size = 1;
  record.corrections = {{"metadata.total_size", "1", "8"}};
  const auto seal = seal_of({shard("m1", {f32("w", {2})})}, {record});
  EXPECT_EQ(json::parse(folder_index(seal.table, record))["metadata"], json::parse(R"({"total_size": 8, "who": "publisher", "z": [1.5, null]})"));
}

TEST(FolderIndex, BearsMetadataThatAreNoObject) {
  for (const char* metadata : {"", "[]", "3", "nonsense"}) {
    auto record = record_of("", IndexVerdict::wrong, {"m1"});
    record.metadata = metadata;
    const auto seal = seal_of({shard("m1", {f32("w", {2})})}, {record});
    EXPECT_EQ(json::parse(folder_index(seal.table, record))["metadata"], json::parse(R"({"total_size": 8})")) << metadata;
  }
}

TEST(FolderIndex, OfAnIncompleteModelDoesNotLookComplete) {
  auto record = record_of("", IndexVerdict::wrong, {"m1"});
  record.missing_files = {"m2"};
  record.absent_weights = {{"gone", "m2"}, {"w", "m2"}};  // w is in m1, whatever the publisher says
  record.published_total_size = 100;
  const auto seal = seal_of({shard("m1", {f32("w", {2})})}, {record});
  const json index = json::parse(folder_index(seal.table, record));
  EXPECT_EQ(index["weight_map"], json::parse(R"({"gone": "m2", "w": "m1"})"));
  EXPECT_EQ(index["metadata"]["total_size"], 100) << "only the publisher knows the bytes of a missing shard";
  record.corrections = {{"metadata.total_size", "7", "8"}};
  EXPECT_EQ(json::parse(folder_index(seal.table, record))["metadata"]["total_size"], 8) << "found wrong when it was judged";
}

TEST(FolderIndex, GivesADuplicateToThePublishersChoiceAndCountsItOnce) {
  auto record = record_of("", IndexVerdict::wrong, {"m1", "m2"});
  record.duplicates = {"w", "x"};
  record.choices = {{"w", "m2"}};
  const auto seal = seal_of({shard("m1", {f32("w", {2}), f32("x", {1})}), shard("m2", {f32("w", {2}), f32("x", {1})})}, {record});
  const json index = json::parse(folder_index(seal.table, record));
  EXPECT_EQ(index["weight_map"], json::parse(R"({"w": "m2", "x": "m1"})"));
  EXPECT_EQ(index["metadata"]["total_size"], 12);
}

// --- other families ---------------------------------------------------------------------------------------------------------

seal::TableFile torch_file(const std::string& path, std::vector<Tensor> tensors) {
  seal::TableFile file = shard(path, std::move(tensors));
  file.format = "torch";
  return file;
}

TEST(RootIndex, LeavesOutTheBinThatHoldsTheSafetensorsOfItsFolderOnceMore) {
  const auto seal = seal_of({shard("model.safetensors", {f32("a", {2})}), torch_file("other/pytorch_model.bin", {f32("a", {4})}),
                             torch_file("pytorch_model.bin", {f32("a", {2}), f32("only_here", {1})})});
  const json index = root_of(seal);
  EXPECT_EQ(index["weight_map"], json::parse(R"({"a": "model.safetensors", "only_here": "pytorch_model.bin"})"));
  EXPECT_EQ(index["metadata"]["vouchfs"]["ambiguous"], json::parse(R"({"a": ["model.safetensors", "other/pytorch_model.bin"]})")) << "two folders are two models";
  EXPECT_EQ(index["metadata"]["total_size"], 8 + 16 + 4);
  EXPECT_EQ(index["metadata"]["total_parameters"], 2 + 4 + 1);
}

TEST(RootIndex, CountsTiedTensorsOfATorchFileOnce) {
  auto file = torch_file("pytorch_model.bin", {f32("embed", {10}), f32("other", {2})});
  file.tensors.insert(file.tensors.begin() + 1, file.tensors[0]);
  file.tensors[1].name = "head";
  const json index = root_of(seal_of({file}));
  EXPECT_EQ(index["metadata"]["total_size"], 48);
  EXPECT_EQ(index["metadata"]["total_parameters"], 12);
  EXPECT_EQ(index["weight_map"].size(), 3U);
}

TEST(RootIndex, NamesALostBinOnlyForTensorsThatNothingElseHolds) {
  auto record = record_of("", IndexVerdict::right, {});
  record.file_name = "pytorch_model.bin.index.json";
  record.family = formats::IndexFamily::torch;
  record.missing_files = {"pytorch_model-00001-of-00002.bin"};
  record.absent_weights = {{"a", "pytorch_model-00001-of-00002.bin"}, {"gone", "pytorch_model-00001-of-00002.bin"}};
  const json index = root_of(seal_of({shard("model.safetensors", {f32("a", {2})})}, {record}));
  EXPECT_EQ(index["weight_map"], json::parse(R"({"a": "model.safetensors", "gone": "pytorch_model-00001-of-00002.bin"})"));
  EXPECT_EQ(index["metadata"]["vouchfs"]["ambiguous"], json::object());
}

TEST(FolderIndex, OfBinFilesCountsTiedTensorsOnceAndNamesThemAll) {
  auto record = record_of("", IndexVerdict::absent, {"p1.bin", "p2.bin"});
  record.family = formats::IndexFamily::torch;
  auto first = torch_file("p1.bin", {f32("embed", {10})});
  first.tensors.push_back(first.tensors[0]);
  first.tensors[1].name = "head";
  const auto seal = seal_of({first, torch_file("p2.bin", {f32("w", {1})})}, {record});
  const json index = json::parse(folder_index(seal.table, record));
  EXPECT_EQ(index["weight_map"], json::parse(R"({"embed": "p1.bin", "head": "p1.bin", "w": "p2.bin"})"));
  EXPECT_EQ(index["metadata"]["total_size"], 44);
}

TEST(FolderIndex, HasThePathOfItsFolder) {
  EXPECT_EQ(index_path(record_of("", IndexVerdict::absent, {})), "model.safetensors.index.json");
  EXPECT_EQ(index_path(record_of("a/b", IndexVerdict::absent, {})), "a/b/model.safetensors.index.json");
}

}  // namespace
}  // namespace vouchfs::view
