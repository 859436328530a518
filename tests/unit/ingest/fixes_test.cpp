#include "ingest/fixes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "unit/ingest/model_folder.h"

namespace vouchfs::ingest::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kMark = "\xEF\xBB\xBF";
constexpr const char* kShard = "model.safetensors";

std::string bytes_through(const seal::FileFix& fix, const std::string& sealed) {
  std::string out;
  for (const seal::FixPiece& piece : fix.pieces) out += piece.literal.empty() ? sealed.substr(piece.begin, piece.end - piece.begin) : piece.literal;
  return out;
}

class Fixes : public ::testing::Test {
 protected:
  IngestReport ingest(bool bom, bool format, bool check = false) {
    IngestOptions options = model_.options();
    options.fixes = {bom, format};
    options.check_only = check;
    const auto report = model_.ingest(options);
    EXPECT_TRUE(report) << report.error().describe();
    return report ? *report : IngestReport{};
  }
  seal::OpenedSeal sealed() const {
    auto seal = seal::open_seal(model_.path(".vouch"), std::nullopt, *engine());
    EXPECT_TRUE(seal) << seal.error().describe();
    return std::move(seal).value();
  }
  // The mended file; its digests are compared with those of the tools.
  std::string mended(const std::string& name) {
    const seal::OpenedSeal seal = sealed();
    const seal::FileFix* fix = seal::find_fix(seal.table, name);
    if (fix == nullptr) return "not mended";
    std::string bytes = bytes_through(*fix, model_.get(name));
    EXPECT_EQ(fix->bytes, bytes.size());
    const std::string copy = model_.beside("copy");
    std::ofstream(copy, std::ios::binary) << bytes;
    EXPECT_EQ("sha256:" + hash::to_hex(fix->fsverity), "sha256:" + fsverity_of(copy).substr(fsverity_of(copy).find(':') + 1));
    EXPECT_EQ(hash::to_hex(fix->sha256), first_word(run_tool({"sha256sum", copy})));
    return bytes;
  }

  ModelFolder model_;
};

TEST_F(Fixes, NothingIsMendedUnlessItIsWished) {
  model_.put(kShard, safetensors({{"a", 2000}}));
  model_.put("config.json", kMark + "{}");
  EXPECT_THAT(ingest(false, false).fixes, IsEmpty());
  EXPECT_THAT(sealed().table_text, HasSubstr("\"version\":1"));
  EXPECT_THAT(ingest(true, false).fixes, ElementsAre(::testing::Field(&seal::FileFix::path, "config.json")));
  EXPECT_THAT(ingest(false, true).fixes, ElementsAre(::testing::Field(&seal::FileFix::path, kShard)));
}

TEST_F(Fixes, FormatGrowsTheHeaderByABlockAndLeavesEveryByteBehindItInStep) {
  const std::string file = safetensors({{"a", 5000}, {"b", 1}});
  model_.put(kShard, file);
  EXPECT_THAT(ingest(false, true).fixes.front().kinds, ElementsAre("format"));
  const std::string shown = mended(kShard);
  ASSERT_EQ(shown.size(), file.size() + kBlockBytes);
  std::uint64_t length = 0;
  std::memcpy(&length, shown.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  EXPECT_THAT(shown.substr(8), ::testing::StartsWith(R"({"__metadata__":{"format":"pt"},)"));
  EXPECT_EQ(shown.substr(8 + length), file.substr(8 + length - kBlockBytes)) << "the data";
  EXPECT_EQ(shown.substr(9 + kBlockBytes), file.substr(9)) << "all that is behind the entry";
  // No page of the view needs two blocks of the file.
  const seal::OpenedSeal seal = sealed();
  for (std::uint64_t page = 0; page < shown.size() / kBlockBytes; ++page) {
    std::set<std::uint64_t> blocks;
    std::uint64_t at = 0;
    for (const seal::FixPiece& piece : seal::find_fix(seal.table, kShard)->pieces) {
      const std::uint64_t from = std::max(at, page * kBlockBytes);
      const std::uint64_t to = std::min(at + piece.bytes(), (page + 1) * kBlockBytes);
      if (piece.literal.empty() && from < to)
        for (std::uint64_t block = (piece.begin + from - at) / kBlockBytes; block <= (piece.begin + to - 1 - at) / kBlockBytes; ++block) blocks.insert(block);
      at += piece.bytes();
    }
    EXPECT_LE(blocks.size(), 1U) << page;
  }
}

TEST_F(Fixes, TensorsInTheTableLieWhereTheyLieOnDisk) {
  model_.put("a.safetensors", safetensors({{"a", 50}}));
  ingest(true, true);
  const auto plain = sealed().table.files.front().tensors.front();
  model_.put("a.safetensors", kMark + safetensors({{"a", 50}}));
  ingest(true, true);
  const seal::OpenedSeal seal = sealed();
  ASSERT_FALSE(seal.table.files.front().problem);
  EXPECT_EQ(seal.table.files.front().tensors.front().begin, plain.begin + 3);
  EXPECT_EQ(seal.table.files.front().tensors.front().end, plain.end + 3);
}

TEST_F(Fixes, MarkIsLeftOutAndThePublishedBytesRemain) {
  const std::string file = safetensors({{"a", 3000}});
  model_.put(kShard, kMark + file);
  model_.put("config.json", kMark + "{\"a\":1}");
  model_.put("sub/tokenizer.json", kMark + "{}");
  model_.put("vocab.txt", kMark + "text keeps its mark");
  model_.put("empty.json", kMark);
  ingest(true, false);
  EXPECT_EQ(mended(kShard), file);
  EXPECT_EQ(mended("config.json"), "{\"a\":1}");
  EXPECT_EQ(mended("sub/tokenizer.json"), "{}");
  EXPECT_EQ(mended("vocab.txt"), "not mended");
  EXPECT_EQ(mended("empty.json"), "not mended") << "nothing would be left";
}

TEST_F(Fixes, BothTogetherAreTheFormatOfTheFileBehindTheMark) {
  const std::string file = safetensors({{"a", 3000}});
  model_.put(kShard, file);
  ingest(false, true);
  const std::string wanted = mended(kShard);
  model_.put(kShard, kMark + file);
  EXPECT_THAT(ingest(true, true).fixes.front().kinds, ElementsAre("bom", "format"));
  EXPECT_EQ(mended(kShard), wanted);
}

TEST_F(Fixes, WithoutBomTheFileBehindAMarkStaysBroken) {
  model_.put(kShard, kMark + safetensors({{"a", 3000}}));
  EXPECT_THAT(ingest(false, true).fixes, IsEmpty());
  EXPECT_EQ(sealed().table.files.front().problem->name, "HeaderTooLarge");
}

TEST_F(Fixes, WhatIsBrokenBehindItsMarkIsNotMended) {
  model_.put(kShard, kMark + "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_THAT(ingest(true, true).fixes, IsEmpty());
  EXPECT_EQ(sealed().table.files.front().problem->name, "HeaderTooLarge");
}

TEST_F(Fixes, IndexBehindAMarkIsRightWhenTheMarkIsLeftOut) {
  const std::string index = "model.safetensors.index.json";
  model_.put("model-00001-of-00002.safetensors", safetensors({{"a", 1}}));
  model_.put("model-00002-of-00002.safetensors", safetensors({{"b", 1}}));
  const std::string right = R"({"metadata":{"total_size":8},"weight_map":{"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"}})";
  model_.put(index, kMark + right);
  ingest(false, false);
  EXPECT_EQ(sealed().table.indexes.front().verdict, formats::IndexVerdict::wrong);
  ingest(true, false);
  EXPECT_EQ(sealed().table.indexes.front().verdict, formats::IndexVerdict::right);
  EXPECT_EQ(mended(index), right);
  // One that is wrong all the same is replaced as a whole; its original stays as it lies there.
  model_.put(index, kMark + R"({"metadata":{},"weight_map":{"a":"model-00002-of-00002.safetensors"}})");
  ingest(true, false);
  EXPECT_TRUE(sealed().table.indexes.front().made());
  EXPECT_EQ(mended(index), "not mended");
}

TEST_F(Fixes, HeaderThatWouldGrowPastWhatReadersTakeIsToldAndLeft) {
  std::string file = safetensors({{"a", 1}});
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), 8);
  const std::uint64_t most = 100'000'000 - 8;
  file.insert(8 + length, most - length, ' ');
  std::memcpy(file.data(), &most, 8);
  model_.put(kShard, file);
  const IngestReport report = ingest(false, true);
  EXPECT_THAT(report.fixes, IsEmpty());
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("no format can be added")));
}

TEST_F(Fixes, CheckTakesTheFixesOfTheSeal) {
  model_.put(kShard, safetensors({{"a", 3000}}));
  model_.put("config.json", kMark + "{}");
  ingest(true, true);
  EXPECT_THAT(ingest(false, false, true).differences, IsEmpty());
  ingest(false, false);
  EXPECT_THAT(ingest(false, false, true).differences, IsEmpty());
  EXPECT_THAT(ingest(true, false, true).differences, ::testing::Not(IsEmpty())) << "a fix that the seal does not have";
}

TEST(FixWishes, AreTheWordsOfTheOption) {
  EXPECT_FALSE(fix_wishes({})->any());
  EXPECT_TRUE(fix_wishes({"bom"})->bom);
  EXPECT_FALSE(fix_wishes({"bom"})->format);
  EXPECT_TRUE(fix_wishes({"format", "bom", "format"})->format);
  const auto refused = fix_wishes({"bom", "boom"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace vouchfs::ingest::test
