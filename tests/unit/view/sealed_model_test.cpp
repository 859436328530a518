#include "view/sealed_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/units.h"
#include "unit/view/test_model.h"

namespace vouchfs::view {
namespace {

using nlohmann::json;
using test::open_model;
using test::Opened;
using test::TempDir;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Caller kCaller{4711, 1000};
constexpr std::size_t kBigBytes = 40 * kBlockBytes + 1000;  // 41 blocks, the last one partial

class SealedModelTest : public testing::Test {
 protected:
  SealedModelTest() {
    test::write_file(path("big.bin"), big_);
    test::write_file(path("small.bin"), small_);
    test::write_file(path("empty.bin"), "");
    test::write_file(path("w.safetensors"), weights_);
    test::seal_model(model_);
    opened_ = open_model(model_);
  }
  std::string path(const std::string& name) const { return model_ + "/" + name; }
  SealedModel& model() const { return *opened_.model; }
  observe::Counters& counters() const { return opened_.runtime->counters; }
  std::size_t index(const std::string& name) const { return model().find(name).value(); }
  void reopen(KnownBadPolicy policy) { opened_ = open_model(model_, policy); }

  // Text, or the error.
  Result<std::string> read(const std::string& name, std::uint64_t offset, std::size_t length) const {
    AlignedBuffer buffer;
    VOUCHFS_ASSIGN(const auto bytes, model().read(index(name), offset, length, buffer, kCaller));
    return std::string(bytes.begin(), bytes.end());
  }
  bool reads_block(const std::string& name, std::uint64_t block) const { return read(name, block * kBlockBytes, kBlockBytes).has_value(); }
  // The blocks of a file that fail when read one by one.
  std::vector<std::uint64_t> failing(const std::string& name) const {
    std::vector<std::uint64_t> out;
    for (std::uint64_t block = 0; block < blocks_for(model().file(index(name)).bytes()); ++block)
      if (!reads_block(name, block)) out.push_back(block);
    return out;
  }
  std::vector<json> events(const std::string& kind) const {
    std::vector<json> out;
    std::istringstream lines(opened_.runtime->events.to_json_lines(std::nullopt));
    for (std::string line; std::getline(lines, line);)
      if (json event = json::parse(line); event["event"] == kind) out.push_back(std::move(event));
    return out;
  }
  std::string tree_of(const std::string& name) const { return path(".vouch/") + seal::tree_path(model().seal().manifest.files[index(name)].fsverity); }

  TempDir dir_;
  std::string model_ = dir_ / "model";
  std::string big_ = test::noise(kBigBytes, 1);
  std::string small_ = test::noise(1000, 2);
  std::string weights_ = test::safetensors({{"first", 6000}, {"second", 6000}, {"third", 9000}}, 3);
  Opened opened_;
};

// --- ranges -----------------------------------------------------------------------------------------------------------------

TEST_F(SealedModelTest, ReadsAnyRangeExactly) {
  for (const std::uint64_t offset : {0ULL, 1ULL, 4095ULL, 4096ULL, 4097ULL, 100000ULL, kBigBytes - 1ULL})
    for (const std::size_t length : {1U, 4095U, 4096U, 4097U, 131072U, 1000000U}) {
      const auto bytes = read("big.bin", offset, length);
      ASSERT_TRUE(bytes) << offset << " " << length;
      EXPECT_EQ(*bytes, big_.substr(offset, length)) << offset << " " << length;
    }
}

TEST_F(SealedModelTest, ReadsNothingAtAndPastTheEndAndOfAnEmptyFile) {
  EXPECT_EQ(read("big.bin", kBigBytes, 10), "");
  EXPECT_EQ(read("big.bin", UINT64_MAX - 5, 10), "");
  EXPECT_EQ(read("big.bin", 5, 0), "");
  EXPECT_EQ(read("empty.bin", 0, 10), "");
  EXPECT_EQ(read("small.bin", 990, 100), small_.substr(990));
  EXPECT_TRUE(model().check_open(index("empty.bin"), kCaller));
}

TEST_F(SealedModelTest, CountsWhatItServedAndWhatItVerified) {
  ASSERT_TRUE(read("big.bin", 10, 100));
  EXPECT_EQ(counters().bytes_served, 100U);
  EXPECT_GE(counters().bytes_verified, 4096U);
}

TEST_F(SealedModelTest, FindsFilesByPath) {
  EXPECT_EQ(model().find("nothing"), std::nullopt);
  EXPECT_EQ(model().seal().manifest.files[index("small.bin")].path, "small.bin");
  EXPECT_EQ(model().name(), "model");
}

// --- damage -----------------------------------------------------------------------------------------------------------------

TEST_F(SealedModelTest, ExactlyTheDamagedBlocksFail) {
  for (const std::uint64_t block : {0ULL, 7ULL, 20ULL, 21ULL, 39ULL, 40ULL}) test::flip(path("big.bin"), block * kBlockBytes + 11);
  EXPECT_THAT(failing("big.bin"), ElementsAre(0, 7, 20, 21, 39, 40));
  EXPECT_THAT(failing("small.bin"), ElementsAre());
  EXPECT_EQ(read("big.bin", 8 * kBlockBytes, 12 * kBlockBytes), big_.substr(8 * kBlockBytes, 12 * kBlockBytes)) << "between two damaged blocks";
  const auto across = read("big.bin", 6 * kBlockBytes + 4000, 200);
  ASSERT_FALSE(across);
  EXPECT_EQ(across.error().code, ErrorCode::corrupt);
  EXPECT_EQ(across.error().where.offset, 7 * kBlockBytes);
}

TEST_F(SealedModelTest, ADamagedFileOfOneBlockFailsWhole) {
  test::flip(path("small.bin"), 999);
  EXPECT_FALSE(reads_block("small.bin", 0));
  EXPECT_EQ(model().state(index("small.bin")), FileState::bad);
}

TEST_F(SealedModelTest, TheEventNamesBlockTensorsAndHashes) {
  const std::uint64_t data = test::data_offset(weights_);
  const std::uint64_t block = (data + 6000) / kBlockBytes;  // where "first" ends and "second" begins
  test::flip(path("w.safetensors"), block * kBlockBytes + 5);
  ASSERT_FALSE(reads_block("w.safetensors", block));
  const auto rows = events("corrupt_block");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["file"], "w.safetensors");
  EXPECT_EQ(rows[0]["block"], block);
  EXPECT_EQ(rows[0]["offset"], block * kBlockBytes);
  EXPECT_EQ(rows[0]["length"], kBlockBytes);
  EXPECT_EQ(rows[0]["tensors"], json({"first", "second"}));
  EXPECT_EQ(rows[0]["expected"], hash::to_hex(hash::sha256(std::string_view(weights_).substr(block * kBlockBytes, kBlockBytes))));
  const std::string damaged = test::read_file(path("w.safetensors")).substr(block * kBlockBytes, kBlockBytes);
  EXPECT_EQ(rows[0]["actual"], hash::to_hex(hash::sha256(std::string_view(damaged))));
  EXPECT_EQ(rows[0]["result"], "eio");
  EXPECT_EQ(rows[0]["pid"], kCaller.pid);
  EXPECT_EQ(rows[0]["uid"], kCaller.uid);
  EXPECT_EQ(rows[0]["sources"], json::parse(R"([{"name": "model", "outcome": "mismatch"}])"));
}

TEST_F(SealedModelTest, RepeatedReadsOfABadBlockAreOneEventAndNoSecondHash) {
  test::flip(path("big.bin"), 5 * kBlockBytes);
  ASSERT_FALSE(reads_block("big.bin", 5));
  const std::uint64_t found = counters().corrupt_blocks;
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(reads_block("big.bin", 5));
  const auto rows = events("corrupt_block");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["count"], 51);
  EXPECT_EQ(counters().failed_reads, 51U);
  EXPECT_LE(counters().corrupt_blocks, found + 10) << "the known-bad table should answer; it holds for a second at a time";
}

TEST_F(SealedModelTest, AfterAFailedWindowItsGoodPagesComeFromMemory) {
  test::flip(path("big.bin"), 5 * kBlockBytes);
  ASSERT_FALSE(read("big.bin", 0, 32 * kBlockBytes));
  const std::uint64_t verified = counters().bytes_verified;
  for (std::uint64_t block = 0; block < 32; ++block) {
    if (block == 5) continue;
    EXPECT_EQ(read("big.bin", block * kBlockBytes, kBlockBytes), big_.substr(block * kBlockBytes, kBlockBytes)) << block;
  }
  EXPECT_EQ(counters().neighbour_hits, 31U);
  EXPECT_EQ(counters().bytes_verified, verified) << "nothing was hashed again";
}

TEST_F(SealedModelTest, ATruncatedFileFailsFromWhereItEnds) {
  std::filesystem::resize_file(path("big.bin"), 10 * kBlockBytes + 100);
  std::vector<std::uint64_t> lost;
  for (std::uint64_t block = 10; block <= 40; ++block) lost.push_back(block);
  EXPECT_EQ(failing("big.bin"), lost);
  EXPECT_EQ(read("big.bin", 0, 10 * kBlockBytes), big_.substr(0, 10 * kBlockBytes));
}

TEST_F(SealedModelTest, AGrownFileIsServedAsItWasSealed) {
  test::write_file(path("big.bin"), big_ + "and more");
  EXPECT_EQ(read("big.bin", 0, 2 * kBigBytes), big_);
}

TEST_F(SealedModelTest, ADeletedFileFailsAsAWhole) {
  std::filesystem::remove(path("big.bin"));
  const auto result = read("big.bin", 0, 100);
  ASSERT_FALSE(result);
  EXPECT_EQ(events("source_error").size(), 1U);
  EXPECT_EQ(read("small.bin", 0, 1000), small_);
}

TEST_F(SealedModelTest, ADamagedTreeIsToldAsDamageOfTheTree) {
  test::flip(tree_of("big.bin"), 17);  // 41 leaves: one tree block, the root
  EXPECT_EQ(failing("big.bin").size(), 41U);
  EXPECT_TRUE(events("corrupt_block").empty());
  const auto rows = events("corrupt_tree");
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0]["tree_level"], 0);
  EXPECT_EQ(rows[0]["tree_block"], 0);
  EXPECT_EQ(rows[0]["offset"], 0);
  EXPECT_EQ(rows[0]["length"], kBigBytes);
}

TEST_F(SealedModelTest, WhatIsPutRightOnDiskReadsAgain) {
  test::flip(path("big.bin"), 5 * kBlockBytes);
  ASSERT_FALSE(reads_block("big.bin", 5));
  EXPECT_EQ(model().state(index("big.bin")), FileState::bad);
  test::flip(path("big.bin"), 5 * kBlockBytes);
  EXPECT_TRUE(test::eventually([&] { return reads_block("big.bin", 5); }));
  EXPECT_EQ(model().state(index("big.bin")), FileState::ok);
  EXPECT_EQ(read("big.bin", 0, kBigBytes), big_);
}

// --- opening ----------------------------------------------------------------------------------------------------------------

TEST_F(SealedModelTest, AKnownBadFileIsRefusedUntilItIsPutRight) {
  test::flip(path("big.bin"), 3 * kBlockBytes);
  EXPECT_TRUE(model().check_open(index("big.bin"), kCaller)) << "nobody knows yet";
  ASSERT_FALSE(reads_block("big.bin", 3));
  const Status refused = model().check_open(index("big.bin"), kCaller);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  EXPECT_TRUE(model().check_open(index("small.bin"), kCaller)) << "other files open";
  ASSERT_EQ(events("open_refused").size(), 1U);
  EXPECT_EQ(events("open_refused")[0]["file"], "big.bin");
  EXPECT_EQ(counters().refused_opens, 1U);
  test::flip(path("big.bin"), 3 * kBlockBytes);
  EXPECT_TRUE(model().check_open(index("big.bin"), kCaller)) << "a file that was put right opens at once";
  EXPECT_EQ(model().state(index("big.bin")), FileState::ok);
}

TEST_F(SealedModelTest, ServePolicyOpensAKnownBadFile) {
  reopen(KnownBadPolicy::serve);
  test::flip(path("big.bin"), 3 * kBlockBytes);
  ASSERT_FALSE(reads_block("big.bin", 3));
  EXPECT_TRUE(model().check_open(index("big.bin"), kCaller));
  EXPECT_TRUE(events("open_refused").empty());
}

// --- what is known ----------------------------------------------------------------------------------------------------------

TEST_F(SealedModelTest, ListsKnownBadBlocksInOrderUpToALimit) {
  for (const std::uint64_t block : {9ULL, 2ULL, 30ULL}) {
    test::flip(path("big.bin"), block * kBlockBytes);
    EXPECT_FALSE(reads_block("big.bin", block));
  }
  test::flip(path("w.safetensors"), test::data_offset(weights_) + 20999);
  EXPECT_EQ(failing("w.safetensors").size(), 1U);
  const auto all = model().known_bad(100);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].file, "big.bin");
  EXPECT_EQ(all[0].block, 2U);
  EXPECT_EQ(all[1].block, 9U);
  EXPECT_EQ(all[2].block, 30U);
  EXPECT_EQ(all[3].file, "w.safetensors");
  EXPECT_THAT(all[3].tensors, ElementsAre("third"));
  EXPECT_EQ(model().known_bad(2).size(), 2U);
  EXPECT_EQ(model().known_bad_count(index("big.bin")), 3U);
  EXPECT_EQ(model().known_bad_count(index("small.bin")), 0U);
}

// --- trust ------------------------------------------------------------------------------------------------------------------

class SealedModelTrust : public SealedModelTest {
 protected:
  Result<std::unique_ptr<SealedModel>> open(const std::optional<hash::Digest>& digest) {
    ModelOptions options;
    options.model_dir = model_;
    options.digest = digest;
    return SealedModel::open(options, runtime_);
  }
  Runtime runtime_{test::engine()};
};

TEST_F(SealedModelTrust, ThePinnedDigestMustFit) {
  hash::Digest digest = model().seal().model_digest;
  EXPECT_TRUE(open(digest));
  digest[0] ^= 1;
  const auto refused = open(digest);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::untrusted);
}

TEST_F(SealedModelTrust, AnEditedEntryTurnsThatFileIntoErrorsAndNoOther) {
  const std::string manifest = test::read_file(path(".vouch/manifest.json"));
  const std::string digest = hash::to_hex(model().seal().manifest.files[index("small.bin")].fsverity);
  std::string edited = manifest;
  char& digit = edited[edited.find(digest)];
  digit = digit == '0' ? '1' : '0';
  test::write_file(path(".vouch/manifest.json"), edited);
  const hash::Digest sealed = model().seal().model_digest;
  reopen(KnownBadPolicy::serve);
  EXPECT_FALSE(reads_block("small.bin", 0));
  EXPECT_EQ(read("big.bin", 0, kBigBytes), big_);
  EXPECT_FALSE(open(sealed)) << "the pinned digest refuses it";
}

TEST_F(SealedModelTrust, AnEditedTensorTableIsRefusedAlways) {
  test::flip(path(".vouch/") + seal::table_path(model().seal().manifest.tensors_fsverity), 5);
  const auto refused = open(std::nullopt);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::untrusted);
}

TEST_F(SealedModelTrust, AModelWithoutASealIsNotFound) {
  std::filesystem::remove_all(path(".vouch"));
  const auto missing = open(std::nullopt);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
}

// --- many at once -----------------------------------------------------------------------------------------------------------

TEST_F(SealedModelTest, ManyReadersOfADamagedFileGetRightBytesOrAnError) {
  test::flip(path("big.bin"), 12 * kBlockBytes);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      AlignedBuffer buffer;
      for (unsigned i = 0; i < 300; ++i) {
        const std::uint64_t offset = (i * 7919U + t * 104729U) % kBigBytes;
        const auto bytes = model().read(index("big.bin"), offset, 20000, buffer, kCaller);
        const bool touches = offset < 13 * kBlockBytes && std::min<std::uint64_t>(offset + 20000, kBigBytes) > 12 * kBlockBytes;
        if (bytes.has_value() == touches) ++wrong;
        if (bytes && std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size()) != std::string_view(big_).substr(offset, 20000)) ++wrong;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace vouchfs::view
