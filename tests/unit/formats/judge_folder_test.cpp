#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "formats/shard_index.h"

namespace vouchfs::formats {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kOne = "model-00001-of-00003.safetensors";
constexpr const char* kTwo = "model-00002-of-00003.safetensors";
constexpr const char* kThree = "model-00003-of-00003.safetensors";

// A folder in the making. Every tensor has 10 bytes.
class Folder {
 public:
  Folder& shard(const std::string& name, const std::vector<std::string>& tensors) {
    auto& list = tensors_.emplace_back();
    for (const std::string& tensor : tensors) list.push_back({tensor, "U8", {10}, 10 * list.size(), 10 * list.size() + 10});
    shards.push_back({name, true, &list});
    return *this;
  }
  Folder& broken(const std::string& name) {
    shards.push_back({name, false, nullptr});
    return *this;
  }
  Folder& index(const std::string& name, const std::string& text) {
    indexes.push_back({name, parse_index(text)});
    return *this;
  }
  std::vector<IndexRecord> judge(bool other_index = false) const { return judge_folder("f", shards, indexes, other_index); }
  // The only record.
  IndexRecord one(bool other_index = false) const {
    auto records = judge(other_index);
    EXPECT_EQ(records.size(), 1U);
    return records.empty() ? IndexRecord{} : records.front();
  }

  std::vector<FolderShard> shards;
  std::vector<FolderIndex> indexes;

 private:
  std::deque<std::vector<Tensor>> tensors_;
};

std::string index_text(const std::map<std::string, std::string>& map, std::optional<std::uint64_t> total) {
  std::string text = R"({"metadata":{"who":"publisher")" + (total ? ",\"total_size\":" + std::to_string(*total) : "") + "},\"weight_map\":{";
  bool first = true;
  for (const auto& [tensor, file] : map) {
    text += (first ? "\"" : ",\"") + tensor + "\":\"" + file + "\"";
    first = false;
  }
  return text + "}}";
}

// Three shards; shard 1 holds a and b.
Folder three_shards() { return std::move(Folder().shard(kOne, {"a", "b"}).shard(kTwo, {"c"}).shard(kThree, {"d"})); }
const std::map<std::string, std::string> kRight = {{"a", kOne}, {"b", kOne}, {"c", kTwo}, {"d", kThree}};

std::string changed(std::map<std::string, std::string> map, std::optional<std::uint64_t> total = 40) { return index_text(map, total); }
std::map<std::string, std::string> with(const std::string& tensor, const std::string& file) {
  auto map = kRight;
  map[tensor] = file;
  return map;
}
std::map<std::string, std::string> without(const std::string& tensor) {
  auto map = kRight;
  map.erase(tensor);
  return map;
}

TEST(JudgeFolder, RightIndexIsRight) {
  const auto record = three_shards().index(kIndex, changed(kRight)).one();
  EXPECT_EQ(record.verdict, IndexVerdict::right);
  EXPECT_TRUE(record.shown());
  EXPECT_EQ(record.folder, "f");
  EXPECT_EQ(record.file_name, kIndex);
  EXPECT_THAT(record.members, ElementsAre(kOne, kTwo, kThree));
  EXPECT_THAT(record.problems, IsEmpty());
  EXPECT_THAT(record.corrections, IsEmpty());
  EXPECT_THAT(record.missing_files, IsEmpty());
  EXPECT_EQ(record.published_total_size, 40U);
  EXPECT_EQ(record.metadata, R"({"total_size":40,"who":"publisher"})");
}

TEST(JudgeFolder, TotalSizeMayBeAbsentButNotWrong) {
  EXPECT_EQ(three_shards().index(kIndex, changed(kRight, std::nullopt)).one().verdict, IndexVerdict::right);
  for (const std::uint64_t total : {0U, 39U, 41U}) {
    const auto record = three_shards().index(kIndex, changed(kRight, total)).one();
    EXPECT_EQ(record.verdict, IndexVerdict::wrong) << total;
    EXPECT_THAT(record.corrections, ElementsAre(IndexCorrection{"metadata.total_size", std::to_string(total), "40"}));
  }
}

TEST(JudgeFolder, EntryWithTheWrongShardIsCorrected) {
  const auto record = three_shards().index(kIndex, changed(with("c", kThree))).one();
  EXPECT_EQ(record.verdict, IndexVerdict::wrong);
  EXPECT_TRUE(record.shown());
  EXPECT_THAT(record.corrections, ElementsAre(IndexCorrection{"c", kThree, kTwo}));
}

TEST(JudgeFolder, TensorTheIndexLacksIsAdded) {
  EXPECT_THAT(three_shards().index(kIndex, changed(without("b"))).one().corrections, ElementsAre(IndexCorrection{"b", "", kOne}));
  // Not one tensor of shard 3 is listed: it belongs to the set all the same.
  EXPECT_THAT(three_shards().index(kIndex, changed(without("d"))).one().corrections, ElementsAre(IndexCorrection{"d", "", kThree}));
}

TEST(JudgeFolder, TensorThatNoShardHoldsIsTakenOut) {
  const auto folder = std::move(three_shards().index(kIndex, changed(with("ghost", kTwo))));
  const auto record = folder.one();
  EXPECT_THAT(record.corrections, ElementsAre(IndexCorrection{"ghost", kTwo, ""}));
  EXPECT_EQ(weight_map_of(record, folder.shards), kRight);
}

TEST(JudgeFolder, NamesThatLeaveTheFolderAreCorrectedAndNeverMissing) {
  for (const char* file : {"../model-00001-of-00003.safetensors", "/etc/passwd", "./model-00001-of-00003.safetensors", "a//b", "", "x/../y"}) {
    const auto record = three_shards().index(kIndex, changed(with("a", file))).one();
    EXPECT_EQ(record.verdict, IndexVerdict::wrong) << file;
    EXPECT_THAT(record.corrections, ElementsAre(IndexCorrection{"a", file, kOne}));
    EXPECT_THAT(record.problems, ElementsAre(HasSubstr("no plain path inside the folder")));
    EXPECT_THAT(record.missing_files, IsEmpty());
    const auto ghost = three_shards().index(kIndex, changed(with("ghost", file))).one();
    EXPECT_THAT(ghost.corrections, ElementsAre(IndexCorrection{"ghost", file, ""}));
    EXPECT_THAT(ghost.absent_weights, IsEmpty());
  }
  EXPECT_THAT(three_shards().index(kIndex, changed(with("ghost", std::string(300, 'x')))).one().absent_weights, IsEmpty());
}

TEST(JudgeFolder, MissingShardStaysListedAndDoesNotMakeTheIndexWrong) {
  auto folder = std::move(Folder().shard(kOne, {"a", "b"}).shard(kThree, {"d"}).index(kIndex, changed(kRight)));
  const auto record = folder.one();
  EXPECT_EQ(record.verdict, IndexVerdict::right);
  EXPECT_THAT(record.missing_files, ElementsAre(kTwo));
  EXPECT_THAT(record.absent_weights, ElementsAre(Pair("c", kTwo)));
  EXPECT_EQ(weight_map_of(record, folder.shards), kRight);
}

TEST(JudgeFolder, MissingShardAndTotalSizeSmallerThanWhatIsThereIsWrong) {
  EXPECT_EQ(Folder().shard(kOne, {"a", "b"}).shard(kThree, {"d"}).index(kIndex, changed(kRight, 29)).one().verdict, IndexVerdict::wrong);
  EXPECT_EQ(Folder().shard(kOne, {"a", "b"}).shard(kThree, {"d"}).index(kIndex, changed(kRight, 31)).one().verdict, IndexVerdict::right);
}

TEST(JudgeFolder, MissingShardAndWrongEntryIsWrongAndKeepsTheMissingTensors) {
  auto folder = std::move(Folder().shard(kOne, {"a", "b"}).shard(kThree, {"d"}).index(kIndex, changed(with("a", kThree))));
  const auto record = folder.one();
  EXPECT_EQ(record.verdict, IndexVerdict::wrong);
  EXPECT_THAT(record.corrections, ElementsAre(IndexCorrection{"a", kThree, kOne}));
  EXPECT_EQ(weight_map_of(record, folder.shards), kRight);
}

TEST(JudgeFolder, EntriesOfABrokenShardStayAsPublished) {
  auto folder = std::move(Folder().shard(kOne, {"a", "b"}).broken(kTwo).shard(kThree, {"d"}).index(kIndex, changed(kRight)));
  const auto record = folder.one();
  EXPECT_EQ(record.verdict, IndexVerdict::right);
  EXPECT_THAT(record.members, Contains(kTwo));
  EXPECT_THAT(record.missing_files, IsEmpty());
  EXPECT_THAT(record.absent_weights, ElementsAre(Pair("c", kTwo)));
  EXPECT_EQ(weight_map_of(record, folder.shards), kRight);
}

TEST(JudgeFolder, ShardThatNobodyNamesIsMissingByItsNumberUnlessTheSizeFits) {
  const std::map<std::string, std::string> some = {{"a", kOne}, {"b", kOne}, {"d", kThree}};
  const auto gap = Folder().shard(kOne, {"a", "b"}).shard(kThree, {"d"}).index(kIndex, index_text(some, 40)).one();
  EXPECT_THAT(gap.missing_files, ElementsAre(kTwo));
  EXPECT_EQ(gap.verdict, IndexVerdict::right);
  EXPECT_THAT(Folder().shard(kOne, {"a", "b"}).shard(kThree, {"d"}).index(kIndex, index_text(some, 30)).one().missing_files, IsEmpty());
}

TEST(JudgeFolder, FileWithoutANumberMayStandForTheMissingOne) {
  const std::map<std::string, std::string> map = {{"a", "model-00001-of-00002.safetensors"}, {"mtp", "model-mtp-of-00002.safetensors"}};
  const auto record = Folder()
                          .shard("model-00001-of-00002.safetensors", {"a"})
                          .shard("model-mtp-of-00002.safetensors", {"mtp"})
                          .index(kIndex, index_text(map, std::nullopt))
                          .one();
  EXPECT_EQ(record.verdict, IndexVerdict::right);
  EXPECT_THAT(record.missing_files, IsEmpty());
}

TEST(JudgeFolder, TensorsOfOtherFilesDoNotMakeAnIndexWrong) {
  const auto record = three_shards()
                          .shard("consolidated.safetensors", {"a", "b", "c", "d"})
                          .shard("adapter_model.safetensors", {"lora"})
                          .shard("model.fp16.safetensors", {"a"})
                          .shard("model-00001-of-00002.safetensors", {"z"})
                          .index(kIndex, changed(kRight))
                          .one();
  EXPECT_EQ(record.verdict, IndexVerdict::right);
  EXPECT_THAT(record.members, ElementsAre(kOne, kTwo, kThree));
}

TEST(JudgeFolder, UnreadableIndexCoversWhatItsNameCovers) {
  for (const char* text : {"", "<html>", "{", R"({"metadata":{}})"}) {
    auto folder = std::move(three_shards().index(kIndex, text));
    const auto record = folder.one();
    EXPECT_EQ(record.verdict, IndexVerdict::wrong) << text;
    EXPECT_EQ(record.problems.size(), 1U);
    EXPECT_THAT(record.members, ElementsAre(kOne, kTwo, kThree));
    EXPECT_EQ(weight_map_of(record, folder.shards), kRight);
  }
  EXPECT_THAT(Folder().shard("model.safetensors", {"a"}).index(kIndex, "").one().members, ElementsAre("model.safetensors"));
  EXPECT_THAT(Folder().shard(kOne, {"a"}).shard(kThree, {"d"}).index(kIndex, "").one().missing_files, ElementsAre(kTwo));
}

TEST(JudgeFolder, WrongIndexIsCorrectedOnlyWhenNoTensorsAreUnknown) {
  EXPECT_TRUE(three_shards().index(kIndex, "").one().made());
  EXPECT_TRUE(Folder().shard(kOne, {"a", "b"}).shard(kThree, {"d"}).index(kIndex, changed(with("a", kThree))).one().made());
  // The index tells nothing, and a shard is not there, or has no header: what it holds nobody knows.
  const auto missing = Folder().shard(kOne, {"a", "b"}).shard(kThree, {"d"}).index(kIndex, "").one();
  EXPECT_EQ(missing.verdict, IndexVerdict::wrong);
  EXPECT_THAT(missing.unknown_files, ElementsAre(kTwo));
  EXPECT_FALSE(missing.made());
  const auto broken = Folder().shard(kOne, {"a", "b"}).broken(kTwo).shard(kThree, {"d"}).index(kIndex, "<html>").one();
  EXPECT_THAT(broken.unknown_files, ElementsAre(kTwo));
  EXPECT_FALSE(broken.made());
  EXPECT_FALSE(three_shards().index(kIndex, changed(kRight)).one().made());
  EXPECT_TRUE(three_shards().one().made());
}

TEST(JudgeFolder, IndexWithoutMetadataOrWithAByteOrderMarkIsWrongAndKeepsItsKnowledge) {
  const auto no_metadata = three_shards().index(kIndex, R"({"weight_map":{"a":"x.safetensors"}})").one();
  EXPECT_EQ(no_metadata.verdict, IndexVerdict::wrong);
  auto folder = std::move(Folder().shard(kOne, {"a", "b"}).shard(kThree, {"d"}).index(kIndex, "\xEF\xBB\xBF" + changed(kRight)));
  const auto marked = folder.one();
  EXPECT_EQ(marked.verdict, IndexVerdict::wrong);
  EXPECT_EQ(weight_map_of(marked, folder.shards), kRight);
}

TEST(JudgeFolder, IndexForOtherNamesIsCorrectedToTheFilesThatAreHere) {
  std::map<std::string, std::string> map;
  for (const auto& [tensor, file] : kRight) map[tensor] = "pytorch-" + file;
  auto folder = std::move(three_shards().index(kIndex, changed(map)));
  const auto record = folder.one();
  EXPECT_EQ(record.verdict, IndexVerdict::wrong);
  EXPECT_EQ(record.corrections.size(), 4U);
  EXPECT_THAT(record.problems, ElementsAre("none of the files it names is here"));
  EXPECT_THAT(record.missing_files, IsEmpty());
  EXPECT_EQ(weight_map_of(record, folder.shards), kRight);
}

TEST(JudgeFolder, TensorInTwoMembersKeepsThePublishersChoice) {
  auto folder = std::move(Folder().shard(kOne, {"a"}).shard(kTwo, {"a", "b"}).shard(kThree, {"c"}));
  const std::map<std::string, std::string> map = {{"a", kTwo}, {"b", kTwo}, {"c", kThree}};
  for (const std::uint64_t total : {30U, 40U}) {
    Folder published = folder;
    const auto record = published.index(kIndex, index_text(map, total)).one();
    EXPECT_EQ(record.verdict, IndexVerdict::right) << total;
    EXPECT_THAT(record.duplicates, ElementsAre("a"));
    EXPECT_EQ(weight_map_of(record, folder.shards), map);
  }
  const auto record = folder.index(kIndex, index_text({{"a", kThree}, {"b", kTwo}, {"c", kThree}}, 30)).one();
  EXPECT_THAT(record.corrections, ElementsAre(IndexCorrection{"a", kThree, kOne}));
}

TEST(JudgeFolder, TwoIndexesAreEachJudgedAgainstTheirOwnShards) {
  const std::string one = "model.fp16-00001-of-00002.safetensors";
  const std::string two = "model.fp16-00002-of-00002.safetensors";
  const auto records = three_shards()
                           .shard(one, {"a"})
                           .shard(two, {"b"})
                           .index(kIndex, changed(kRight))
                           .index("model.safetensors.index.fp16.json", index_text({{"a", one}, {"b", one}}, 20))
                           .judge();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].file_name, "model.safetensors.index.fp16.json");
  EXPECT_THAT(records[0].members, ElementsAre(one, two));
  EXPECT_THAT(records[0].corrections, ElementsAre(IndexCorrection{"b", one, two}));
  EXPECT_EQ(records[1].verdict, IndexVerdict::right);
}

TEST(JudgeFolder, FilesInSubfoldersCountWhereTheIndexNamesThem) {
  const std::map<std::string, std::string> map = {{"a", "sub/x.safetensors"}, {"b", "sub/gone.safetensors"}};
  const auto record = Folder().shard("sub/x.safetensors", {"a"}).shard("sub/y.safetensors", {"y"}).index(kIndex, index_text(map, std::nullopt)).one();
  EXPECT_EQ(record.verdict, IndexVerdict::right);
  EXPECT_THAT(record.members, ElementsAre("sub/x.safetensors"));
  EXPECT_THAT(record.missing_files, ElementsAre("sub/gone.safetensors"));
  EXPECT_THAT(Folder().shard("sub/x.safetensors", {"a"}).shard("sub/y.safetensors", {"y"}).judge(), IsEmpty());
}

TEST(MadeUpIndex, NumberedSetGetsOneUnderItsOwnName) {
  auto folder = three_shards();
  const auto record = folder.one();
  EXPECT_EQ(record.verdict, IndexVerdict::absent);
  EXPECT_TRUE(record.shown());
  EXPECT_EQ(record.file_name, kIndex);
  EXPECT_EQ(weight_map_of(record, folder.shards), kRight);
  const auto name = [](const std::string& first, const std::string& second) { return Folder().shard(first, {"a"}).shard(second, {"b"}).one().file_name; };
  EXPECT_EQ(name("diffusion_pytorch_model-00001-of-00002.safetensors", "diffusion_pytorch_model-00002-of-00002.safetensors"),
            "diffusion_pytorch_model.safetensors.index.json");
  EXPECT_EQ(name("model.fp16-00001-of-00002.safetensors", "model.fp16-00002-of-00002.safetensors"), "model.safetensors.index.fp16.json");
  EXPECT_EQ(name("diffusion_pytorch_model-00001-of-00002.fp16.safetensors", "diffusion_pytorch_model-00002-of-00002.fp16.safetensors"),
            "diffusion_pytorch_model.safetensors.fp16.index.json");
  EXPECT_EQ(name("model.safetensors-00001-of-00002.safetensors", "model.safetensors-00002-of-00002.safetensors"), kIndex);
  EXPECT_EQ(name("consolidated-00001-of-00002.safetensors", "consolidated-00002-of-00002.safetensors"), "consolidated.safetensors.index.json");
  EXPECT_EQ(name("quant_model_weights-00001-of-00002.safetensors", "quant_model_weights-00002-of-00002.safetensors"), kIndex);
  EXPECT_EQ(name("Mistral-7B-v0.1-00001-of-00002.safetensors", "Mistral-7B-v0.1-00002-of-00002.safetensors"), kIndex);
  EXPECT_EQ(name("1-of-2.safetensors", "2-of-2.safetensors"), kIndex);
  EXPECT_EQ(name("model-00001-of-000002.safetensors", "model-00002-of-000002.safetensors"), kIndex);
}

TEST(MadeUpIndex, FilesWithoutNumbersGetOneTogether) {
  auto folder = std::move(Folder().shard("layers-1.safetensors", {"a"}).shard("layers-22.safetensors", {"b"}).shard("head.safetensors", {"c"}));
  const auto record = folder.one();
  EXPECT_TRUE(record.shown());
  EXPECT_EQ(record.file_name, kIndex);
  EXPECT_THAT(record.members, ElementsAre("head.safetensors", "layers-1.safetensors", "layers-22.safetensors"));
  EXPECT_EQ(Folder().shard("diffusion_pytorch_model_a.safetensors", {"a"}).shard("diffusion_pytorch_model_b.safetensors", {"b"}).one().file_name,
            "diffusion_pytorch_model.safetensors.index.json");
}

TEST(MadeUpIndex, NobodyNeedsOneBesideASingleFile) {
  EXPECT_THAT(Folder().judge(), IsEmpty());
  EXPECT_THAT(Folder().shard("model.safetensors", {"a"}).judge(), IsEmpty());
  EXPECT_THAT(Folder().shard("anything.safetensors", {"a"}).judge(), IsEmpty());
  EXPECT_THAT(Folder().shard("model.safetensors", {"a"}).shard("extra.safetensors", {"b"}).judge(), IsEmpty());
  EXPECT_THAT(Folder().shard("consolidated.safetensors", {"a"}).shard("extra.safetensors", {"b"}).judge(), IsEmpty());
  EXPECT_THAT(Folder().shard("model.safetensors", {"a"}).shard("model.fp16.safetensors", {"b"}).judge(), IsEmpty());
  EXPECT_THAT(three_shards().shard("model.safetensors", {"a", "b", "c", "d"}).judge(), IsEmpty());
  EXPECT_THAT(Folder().shard("adapter_model.safetensors", {"a"}).shard("adapter_extra.safetensors", {"b"}).judge(), IsEmpty());
  EXPECT_THAT(Folder().shard("adapter_model-00001-of-00002.safetensors", {"a"}).shard("adapter_model-00002-of-00002.safetensors", {"b"}).judge(), IsEmpty());
  // The single file of another family does not help readers of this one.
  EXPECT_TRUE(three_shards().shard("consolidated.safetensors", {"a", "b", "c", "d"}).one().shown());
}

TEST(MadeUpIndex, OneShardOfOneIsNotShown) { EXPECT_FALSE(Folder().shard("model-00001-of-00001.safetensors", {"a"}).one().shown()); }

TEST(MadeUpIndex, NoneBesideAnIndexOfAnotherKind) {
  EXPECT_THAT(three_shards().judge(true), IsEmpty());
  EXPECT_EQ(three_shards().index(kIndex, changed(kRight)).one(true).verdict, IndexVerdict::right);
  // A publisher's index for another set: accelerate would refuse two.
  const auto records =
      three_shards().shard("consolidated-1-of-2.safetensors", {"x"}).shard("consolidated-2-of-2.safetensors", {"y"}).index(kIndex, changed(kRight)).judge();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].file_name, kIndex);
}

TEST(MadeUpIndex, OfTwoSetsTheModelGetsOne) {
  const auto records = three_shards().shard("consolidated-1-of-2.safetensors", {"x"}).shard("consolidated-2-of-2.safetensors", {"y"}).judge();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].file_name, kIndex);
  EXPECT_THAT(Folder()
                  .shard("x-1-of-2.safetensors", {"a"})
                  .shard("x-2-of-2.safetensors", {"b"})
                  .shard("y-1-of-2.safetensors", {"c"})
                  .shard("y-2-of-2.safetensors", {"d"})
                  .judge(),
              IsEmpty());
}

TEST(MadeUpIndex, VariantGetsItsOwnBesideTheModel) {
  const auto records = three_shards().shard("model.fp16-1-of-2.safetensors", {"a"}).shard("model.fp16-2-of-2.safetensors", {"b"}).judge();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_TRUE(records[0].shown());
  EXPECT_EQ(records[0].file_name, "model.safetensors.index.fp16.json");
  EXPECT_TRUE(records[1].shown());
}

TEST(MadeUpIndex, MissingNumberIsNamedAndNothingIsShown) {
  const auto record = Folder()
                          .shard("model-00001-of-00004.safetensors", {"a"})
                          .shard("model-00002-of-00004.safetensors", {"b"})
                          .shard("model-00004-of-00004.safetensors", {"d"})
                          .one();
  EXPECT_FALSE(record.shown());
  EXPECT_THAT(record.missing_files, ElementsAre("model-00003-of-00004.safetensors"));
  EXPECT_FALSE(Folder().shard(kOne, {"a"}).shard(kTwo, {"b"}).one().shown());
  // Also where no index would be wanted, what is missing is said.
  EXPECT_THAT(Folder().shard(kOne, {"a"}).shard(kTwo, {"b"}).one(true).missing_files, ElementsAre(kThree));
}

TEST(MadeUpIndex, NumbersFromZeroAreComplete) {
  EXPECT_TRUE(Folder().shard("model-0-of-2.safetensors", {"a"}).shard("model-1-of-2.safetensors", {"b"}).one().shown());
  EXPECT_THAT(Folder().shard("model-0-of-3.safetensors", {"a"}).shard("model-2-of-3.safetensors", {"b"}).one().missing_files,
              ElementsAre("model-1-of-3.safetensors"));
}

TEST(MadeUpIndex, AbsurdCountIsBounded) {
  const auto record =
      Folder().shard("model-00001-of-999999999999999999.safetensors", {"a"}).shard("model-00003-of-999999999999999999.safetensors", {"b"}).one();
  EXPECT_EQ(record.missing_files.size(), 10'000U);
  EXPECT_EQ(record.missing_files.front(), "model-00002-of-999999999999999999.safetensors");
  EXPECT_THAT(record.problems, ElementsAre(HasSubstr("999999999999999997 files are missing")));
  EXPECT_FALSE(Folder().shard("model-00001-of-00000.safetensors", {"a"}).one().shown());
}

TEST(MadeUpIndex, AbsurdCountsOfManySetsAreBoundedTogether) {
  Folder folder;
  for (int i = 0; i < 300; ++i) folder.shard("x" + std::to_string(i) + "-1-of-99999999.safetensors", {"a"});
  std::size_t listed = 0;
  for (const IndexRecord& record : folder.judge()) {
    EXPECT_THAT(record.missing_files, ::testing::Not(IsEmpty())) << "each set with a gap says so";
    listed += record.missing_files.size();
  }
  EXPECT_EQ(listed, 10'000U + 299U);
}

TEST(PublishedIndex, AbsurdCountsOfManySetsAreBoundedTogether) {
  std::map<std::string, std::string> map;
  for (int i = 0; i < 300; ++i) map["t" + std::to_string(i)] = "x" + std::to_string(i) + "-1-of-99999999.safetensors";
  const auto record = Folder().shard("x0-1-of-99999999.safetensors", {"t0"}).index(kIndex, index_text(map, {})).one();
  EXPECT_LT(record.missing_files.size(), 10'000U + 2 * 300U);
  EXPECT_GT(record.missing_files.size(), 10'000U);
}

TEST(MadeUpIndex, BrokenHeaderOrDuplicateTensorPreventsIt) {
  const auto broken = Folder().shard(kOne, {"a"}).broken(kTwo).shard(kThree, {"c"}).one();
  EXPECT_FALSE(broken.shown());
  EXPECT_THAT(broken.problems, ElementsAre(HasSubstr(kTwo)));
  const auto twice = Folder().shard(kOne, {"a", "x"}).shard(kTwo, {"b", "x"}).shard(kThree, {"c"}).one();
  EXPECT_FALSE(twice.shown());
  EXPECT_THAT(twice.duplicates, ElementsAre("x"));
}

}  // namespace
}  // namespace vouchfs::formats
