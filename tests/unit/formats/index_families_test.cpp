// Indexes of .bin, .h5 and .msgpack weights: named, judged and made up beside those of safetensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "formats/shard_groups.h"
#include "formats/shard_index.h"

namespace vouchfs::formats {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kIndex = "pytorch_model.bin.index.json";
constexpr const char* kOne = "pytorch_model-00001-of-00002.bin";
constexpr const char* kTwo = "pytorch_model-00002-of-00002.bin";
const std::map<std::string, std::string> kRight = {{"a", kOne}, {"b", kOne}, {"c", kTwo}};

// A folder in the making. Every tensor has 10 bytes.
class Folder {
 public:
  Folder& shard(const std::string& name, const std::vector<std::string>& tensors) {
    std::vector<Tensor> list;
    for (const std::string& tensor : tensors) list.push_back({tensor, "uint8", {10}, 100 + 10 * list.size(), 110 + 10 * list.size()});
    return shard_of(name, std::move(list));
  }
  Folder& shard_of(const std::string& name, std::vector<Tensor> tensors) {
    tensors_.push_back(std::move(tensors));
    shards.push_back({name, true, &tensors_.back()});
    return *this;
  }
  Folder& unread(const std::string& name) {
    shards.push_back({name, false, nullptr});
    return *this;
  }
  Folder& index(const std::string& name, const std::map<std::string, std::string>& map, std::optional<std::uint64_t> total = std::nullopt) {
    std::string text = total ? R"({"metadata":{"total_size":)" + std::to_string(*total) + "}" : std::string(R"({"metadata":{})");
    text += R"(,"weight_map":{)";
    for (const auto& [tensor, file] : map) text += (text.back() == '{' ? "\"" : ",\"") + tensor + "\":\"" + file + "\"";
    return raw_index(name, text + "}}");
  }
  Folder& raw_index(const std::string& name, const std::string& text) {
    indexes.push_back({name, parse_index(text)});
    return *this;
  }
  std::vector<IndexRecord> judge(bool other_index = false) const { return judge_folder("", shards, indexes, other_index); }
  IndexRecord one() const {
    auto records = judge();
    EXPECT_EQ(records.size(), 1U);
    return records.empty() ? IndexRecord{} : records.front();
  }

  std::vector<FolderShard> shards;
  std::vector<FolderIndex> indexes;

 private:
  std::deque<std::vector<Tensor>> tensors_;
};

Folder two_bins() { return std::move(Folder().shard(kOne, {"a", "b"}).shard(kTwo, {"c"})); }
Folder and_two_safetensors(Folder folder) {
  return std::move(folder.shard("model-00001-of-00002.safetensors", {"a", "b"}).shard("model-00002-of-00002.safetensors", {"c"}));
}
std::map<std::string, std::string> with(const std::string& tensor, const std::string& file) {
  auto map = kRight;
  map[tensor] = file;
  return map;
}

TEST(IndexFamily, IsToldByTheNameOfTheIndexInEveryForm) {
  const std::map<std::string, IndexFamily> names = {
      {"model.safetensors.index.json", IndexFamily::safetensors},
      {"consolidated.safetensors.index.json", IndexFamily::safetensors},
      {"pytorch_model.bin.index.json", IndexFamily::torch},
      {"pytorch_model.bin.index.fp16.json", IndexFamily::torch},
      {"diffusion_pytorch_model.bin.index.json", IndexFamily::torch},
      {"diffusion_pytorch_model.bin.fp16.index.json", IndexFamily::torch},
      {"tf_model.h5.index.json", IndexFamily::tf},
      {"flax_model.msgpack.index.json", IndexFamily::flax},
      {"flax_model.msgpack.index.bf16.json", IndexFamily::flax},
  };
  for (const auto& [name, family] : names) {
    EXPECT_EQ(index_family_of(name), family) << name;
    EXPECT_EQ(write_index_name(*parse_index_name(name)), name);
    EXPECT_EQ(index_family_from(to_string(family)), family);
  }
  for (const char* name : {"model.onnx.index.json", "model_index.json", "index.json", ".bin.index.json"})
    EXPECT_EQ(index_family_of(name), std::nullopt) << name;
  EXPECT_EQ(index_family_from("pickle"), std::nullopt);
}

TEST(IndexFamily, IsToldByTheEndingOfAShard) {
  EXPECT_EQ(shard_family_of("pytorch_model.bin"), IndexFamily::torch);
  EXPECT_EQ(shard_family_of("tf_model-00001-of-00002.h5"), IndexFamily::tf);
  EXPECT_EQ(shard_family_of("flax_model.msgpack"), IndexFamily::flax);
  EXPECT_EQ(shard_family_of("a.safetensors"), IndexFamily::safetensors);
  for (const char* name : {"consolidated.00.pth", "model.gguf", "optimizer.pt", "bin"}) EXPECT_EQ(shard_family_of(name), std::nullopt) << name;
}

TEST(TorchIndex, RightOneIsRightAndItsFamilyIsKept) {
  const auto record = two_bins().index(kIndex, kRight, 30).one();
  EXPECT_EQ(record.verdict, IndexVerdict::right);
  EXPECT_EQ(record.family, IndexFamily::torch);
  EXPECT_THAT(record.members, ElementsAre(kOne, kTwo));
}

TEST(TorchIndex, WrongEntryIsCorrected) {
  auto folder = std::move(two_bins().index(kIndex, with("b", kTwo), 30));
  const auto record = folder.one();
  EXPECT_EQ(record.verdict, IndexVerdict::wrong);
  EXPECT_TRUE(record.made());
  EXPECT_THAT(record.corrections, ElementsAre(IndexCorrection{"b", kTwo, kOne}));
  EXPECT_EQ(weight_map_of(record, folder.shards), kRight);
}

TEST(TorchIndex, MissingShardIsNamedAndKeepsItsTensors) {
  const auto folder = std::move(Folder().shard(kOne, {"a", "b"}).index(kIndex, kRight));
  EXPECT_THAT(folder.one().missing_files, ElementsAre(kTwo));
  EXPECT_EQ(weight_map_of(folder.one(), folder.shards), kRight);
}

TEST(TorchIndex, BytesThatTiedTensorsShareMayBeCountedOnceOrTwice) {
  const std::vector<Tensor> tied = {{"embed", "float32", {10}, 100, 140}, {"head", "float32", {10}, 100, 140}, {"part", "float32", {5}, 120, 140}};
  const std::map<std::string, std::string> map = {{"embed", kOne}, {"head", kOne}, {"part", kOne}, {"c", kTwo}};
  Folder folder;
  folder.shard_of(kOne, tied).shard(kTwo, {"c"});
  for (const std::uint64_t total : {50U, 110U}) {
    Folder published = folder;
    EXPECT_EQ(published.index(kIndex, map, total).one().verdict, IndexVerdict::right) << total;
  }
  Folder published = folder;
  EXPECT_THAT(published.index(kIndex, map, 90).one().corrections, ElementsAre(IndexCorrection{"metadata.total_size", "90", "50"}));
  EXPECT_EQ(total_bytes_of(folder.shards), 50U);
}

TEST(TorchIndex, IsMadeUpForANumberedSetUnderTheNameThatReadersLookFor) {
  const auto folder = two_bins();
  const auto record = folder.one();
  EXPECT_TRUE(record.made());
  EXPECT_EQ(record.file_name, kIndex);
  EXPECT_EQ(weight_map_of(record, folder.shards), kRight);
  const auto name = [](const std::string& first, const std::string& second) { return Folder().shard(first, {"a"}).shard(second, {"b"}).one().file_name; };
  EXPECT_EQ(name("pytorch_model.fp16-00001-of-00002.bin", "pytorch_model.fp16-00002-of-00002.bin"), "pytorch_model.bin.index.fp16.json");
  EXPECT_EQ(name("diffusion_pytorch_model-00001-of-00002.bin", "diffusion_pytorch_model-00002-of-00002.bin"), "diffusion_pytorch_model.bin.index.json");
  EXPECT_EQ(name("weights-1-of-2.bin", "weights-2-of-2.bin"), kIndex);
}

TEST(TorchIndex, IsNotMadeUpForPlainFilesNorForAGapNorForAdapters) {
  EXPECT_THAT(Folder().shard("optimizer.bin", {"a"}).shard("scheduler.bin", {"b"}).judge(), IsEmpty());
  EXPECT_THAT(Folder().shard("pytorch_model.bin", {"a"}).judge(), IsEmpty());
  EXPECT_FALSE(Folder().shard("pytorch_model-00001-of-00003.bin", {"a"}).shard("pytorch_model-00002-of-00003.bin", {"b"}).one().shown());
  EXPECT_THAT(Folder().shard("adapter_model-1-of-2.bin", {"a"}).shard("adapter_model-2-of-2.bin", {"b"}).judge(), IsEmpty());
}

TEST(TwoKinds, NoSecondIndexIsMadeUpBesideOneOfTheOtherFamily) {
  auto with_bin_index = and_two_safetensors(two_bins());
  EXPECT_THAT(with_bin_index.index(kIndex, kRight, 30).judge(), ElementsAre(::testing::Field(&IndexRecord::file_name, kIndex)));
  const char* other = "model.safetensors.index.json";
  const std::map<std::string, std::string> map = {
      {"a", "model-00001-of-00002.safetensors"}, {"b", "model-00001-of-00002.safetensors"}, {"c", "model-00002-of-00002.safetensors"}};
  auto with_safetensors_index = and_two_safetensors(two_bins());
  EXPECT_THAT(with_safetensors_index.index(other, map, 30).judge(), ElementsAre(::testing::Field(&IndexRecord::file_name, other)));
}

TEST(TwoKinds, BothPublishedAndRightAreBothServedAndTheirTensorsAreNoDuplicates) {
  const std::map<std::string, std::string> map = {
      {"a", "model-00001-of-00002.safetensors"}, {"b", "model-00001-of-00002.safetensors"}, {"c", "model-00002-of-00002.safetensors"}};
  auto folder = and_two_safetensors(two_bins());
  const auto records = folder.index(kIndex, kRight, 30).index("model.safetensors.index.json", map, 30).judge();
  ASSERT_EQ(records.size(), 2U);
  for (const IndexRecord& record : records) {
    EXPECT_EQ(record.verdict, IndexVerdict::right);
    EXPECT_FALSE(record.made());
    EXPECT_THAT(record.duplicates, IsEmpty());
    EXPECT_EQ(record.members.size(), 2U);
  }
}

TEST(TwoKinds, OfTwoSetsWithoutIndexesSafetensorsGetsTheOneThatIsMadeUp) {
  const auto records = and_two_safetensors(two_bins()).judge();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].file_name, "model.safetensors.index.json");
  EXPECT_TRUE(records[0].made());
}

TEST(TwoKinds, WholeSetGetsTheIndexBesideOneWithAGap) {
  auto folder = two_bins();
  const auto records = folder.shard("model-00001-of-00002.safetensors", {"a"}).judge();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_FALSE(records[0].shown());
  EXPECT_THAT(records[0].missing_files, ElementsAre("model-00002-of-00002.safetensors"));
  EXPECT_EQ(records[1].file_name, kIndex);
  EXPECT_TRUE(records[1].made());
}

TEST(TwoKinds, NoneIsMadeUpBesideAWholeSingleFileOfEitherFamily) {
  EXPECT_THAT(two_bins().shard("model.safetensors", {"a", "b", "c"}).judge(), IsEmpty());
  EXPECT_THAT(two_bins().shard("pytorch_model.bin", {"a", "b", "c"}).judge(), IsEmpty());
  Folder safetensors;
  safetensors.shard("model-00001-of-00002.safetensors", {"a"}).shard("model-00002-of-00002.safetensors", {"b"});
  Folder beside = safetensors;
  EXPECT_THAT(beside.shard("pytorch_model.bin", {"a", "b"}).judge(), IsEmpty());
  // A pointer or a cut file of the other family is no model.
  EXPECT_TRUE(safetensors.unread("pytorch_model.bin").one().made());
}

TEST(TwoKinds, IndexThatNamesFilesOfTheOtherFamilyIsWrongAndTheyAreNotCalledMissing) {
  const char* name = "model.safetensors.index.json";
  const auto record = two_bins().index(name, kRight, 30).judge().front();
  EXPECT_EQ(record.file_name, name);
  EXPECT_EQ(record.verdict, IndexVerdict::wrong);
  EXPECT_THAT(record.problems, ElementsAre(HasSubstr("is no .safetensors file (and 1 more)")));
  EXPECT_THAT(record.missing_files, IsEmpty());
  EXPECT_FALSE(record.made()) << "a corrected one would be empty";
  auto both = and_two_safetensors(two_bins());
  const auto fixed = both.index(name, kRight, 30).judge().front();
  EXPECT_TRUE(fixed.made());
  EXPECT_EQ(fixed.corrections.size(), 3U);
}

TEST(NamesOnlyIndex, PresentAndMissingShardsAreToldAndNothingIsEverMade) {
  const std::map<std::string, std::string> map = {{"a", "tf_model-00001-of-00002.h5"}, {"b", "tf_model-00002-of-00002.h5"}};
  for (const auto& [index, ending] : std::map<std::string, std::string>{{"tf_model.h5.index.json", ".h5"}, {"flax_model.msgpack.index.json", ".msgpack"}}) {
    std::map<std::string, std::string> own = map;
    for (auto& [tensor, file] : own) file = file.substr(0, file.size() - 3) + ending;
    const auto whole = Folder().unread(own["a"]).unread(own["b"]).index(index, own, 7).one();
    EXPECT_EQ(whole.verdict, IndexVerdict::right);
    EXPECT_FALSE(whole.made());
    EXPECT_THAT(whole.members, ElementsAre(own["a"], own["b"]));
    EXPECT_THAT(whole.missing_files, IsEmpty());
    EXPECT_THAT(whole.absent_weights, IsEmpty());
    const auto cut = Folder().unread(own["a"]).index(index, own).one();
    EXPECT_EQ(cut.verdict, IndexVerdict::right);
    EXPECT_THAT(cut.missing_files, ElementsAre(own["b"]));
    const auto broken = Folder().unread(own["a"]).unread(own["b"]).raw_index(index, "<html>").one();
    EXPECT_EQ(broken.verdict, IndexVerdict::wrong);
    EXPECT_FALSE(broken.made());
    const auto lonely = Folder().raw_index(index, "").one();
    EXPECT_EQ(lonely.verdict, IndexVerdict::wrong);
    EXPECT_FALSE(lonely.made()) << "no file is known at all";
  }
}

TEST(NamesOnlyIndex, NumberedSetWithoutOneGetsNoneButItsGapsAreNamed) {
  EXPECT_THAT(Folder().unread("tf_model-00001-of-00002.h5").unread("tf_model-00002-of-00002.h5").judge(), IsEmpty());
  const auto record = Folder().unread("tf_model-00001-of-00003.h5").unread("tf_model-00003-of-00003.h5").one();
  EXPECT_EQ(record.verdict, IndexVerdict::absent);
  EXPECT_FALSE(record.shown());
  EXPECT_THAT(record.missing_files, ElementsAre("tf_model-00002-of-00003.h5"));
  EXPECT_THAT(record.problems, IsEmpty());
}

}  // namespace
}  // namespace vouchfs::formats
