#include "verify/verified_file.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "sealed_file.h"

namespace vouchfs::verify {
namespace {

using source::Freshness;

std::vector<std::uint64_t> numbers(const RangeOutcome& outcome) {
  std::vector<std::uint64_t> out;
  for (const BadBlock& bad : outcome.bad) out.push_back(bad.block);
  return out;
}

class VerifiedFileSizes : public testing::TestWithParam<std::size_t> {};

TEST_P(VerifiedFileSizes, ReadsEveryBlockRight) {
  Sealed sealed(GetParam());
  EXPECT_TRUE(sealed.read_all().all_good());
  for (std::uint64_t block = 0; block < sealed.blocks(); ++block) EXPECT_TRUE(sealed.block_is_right(block)) << block;
}

TEST_P(VerifiedFileSizes, NamesExactlyTheFlippedBlock) {
  const std::size_t size = GetParam();
  Sealed sealed(size);
  for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
    sealed.data->bytes[at] ^= 0x10;
    const RangeOutcome outcome = sealed.read_all();
    EXPECT_EQ(numbers(outcome), std::vector<std::uint64_t>{at / kBlockBytes});
    EXPECT_EQ(outcome.bad.front().kind, BadKind::corrupt);
    EXPECT_NE(outcome.bad.front().expected, outcome.bad.front().actual);
    for (std::uint64_t block = 0; block < sealed.blocks(); ++block) EXPECT_EQ(sealed.block_is_right(block), block != at / kBlockBytes) << block;
    sealed.data->bytes[at] ^= 0x10;
  }
}

INSTANTIATE_TEST_SUITE_P(Edges, VerifiedFileSizes,
                         testing::Values(1, 4095, 4096, 4097, 8192, kLeaf - 1, kLeaf, kLeaf + 1, 2 * kLeaf + 5, 128 * kLeaf - 1, 128 * kLeaf, 128 * kLeaf + 1));

TEST(VerifiedFile, AWrongBlockIsZeroedAndNotGivenOut) {
  Sealed sealed(kLeaf);
  sealed.data->bytes[5 * kBlockBytes] ^= 1;
  sealed.read_all();
  for (std::size_t i = 0; i < kBlockBytes; ++i) ASSERT_EQ(sealed.buffer.data()[5 * kBlockBytes + i], 0);
}

TEST(VerifiedFile, AMismatchThatIsGonePastTheCacheIsTransient) {
  Sealed sealed(kLeaf);
  sealed.data->flipped_once_in_cache = {3, 4, 9};
  const RangeOutcome outcome = sealed.read_all();
  EXPECT_TRUE(outcome.all_good());
  EXPECT_EQ(outcome.transient, (std::vector<std::uint64_t>{3, 4, 9}));
  EXPECT_TRUE(sealed.block_is_right(3));
}

TEST(VerifiedFile, ACutSourceFailsFromTheCutOnAndSaysWhere) {
  Sealed sealed(10 * kBlockBytes + 100);
  sealed.data->bytes.resize(7 * kBlockBytes + 50);
  const RangeOutcome outcome = sealed.read_all();
  EXPECT_EQ(numbers(outcome), (std::vector<std::uint64_t>{7, 8, 9, 10}));
  EXPECT_EQ(outcome.bad.front().kind, BadKind::truncated);
  EXPECT_EQ(outcome.bad.front().source_bytes, 7 * kBlockBytes + 50);
}

TEST(VerifiedFile, ACutOfZerosIsNotFilledUp) {
  Sealed sealed(3 * kBlockBytes);
  Sealed zeros(0);
  zeros.good.assign(2 * kBlockBytes, 0);
  sealed.data->bytes.resize(2 * kBlockBytes + 10);
  EXPECT_EQ(numbers(sealed.read_all()), std::vector<std::uint64_t>{2});
}

TEST(VerifiedFile, BytesPastTheSealedEndDoNotCount) {
  Sealed sealed(3 * kBlockBytes + 10);
  sealed.data->bytes.resize(5 * kBlockBytes, 0xAB);
  EXPECT_TRUE(sealed.read_all().all_good());
  for (std::size_t i = 10; i < kBlockBytes; ++i) ASSERT_EQ(sealed.buffer.data()[3 * kBlockBytes + i], 0);
}

TEST(VerifiedFile, AFailingSourceFailsInExactlyTheBlocksItRefuses) {
  Sealed sealed(kLeaf + 20 * kBlockBytes);
  for (const std::uint64_t block : {0U, 1U, 70U, 71U, 72U, 147U}) sealed.data->failing[block] = EIO;
  const RangeOutcome outcome = sealed.read_all();
  EXPECT_EQ(numbers(outcome), (std::vector<std::uint64_t>{0, 1, 70, 71, 72, 147}));
  for (const BadBlock& bad : outcome.bad) EXPECT_EQ(bad.kind, BadKind::source_error);
  EXPECT_EQ(outcome.bad.front().sys_errno, EIO);
}

TEST(VerifiedFile, ASourceThatCannotBeOpenedIsAskedOnceForARange) {
  Sealed sealed(kLeaf);
  sealed.data->open_error = ENOENT;
  EXPECT_EQ(sealed.read_all().bad.size(), 128U);
  EXPECT_LE(sealed.data->reads.load(), 2) << "once, and once more past the cache";
}

TEST(VerifiedFile, ADamagedTreeBlockTakesTheBlocksBelowItAndNoOther) {
  Sealed sealed(3 * kLeaf);                      // root block, then three leaf tree blocks
  sealed.tree->bytes[2 * kBlockBytes + 7] ^= 1;  // leaf tree block 1
  const RangeOutcome outcome = sealed.read_all();
  ASSERT_EQ(outcome.bad.size(), merkle::kArity);
  EXPECT_EQ(outcome.bad.front().block, merkle::kArity);
  EXPECT_EQ(outcome.bad.front().kind, BadKind::tree);
  EXPECT_EQ(outcome.bad.front().tree_level, 0U);
  EXPECT_EQ(outcome.bad.front().tree_block, 2U);
}

TEST(VerifiedFile, ADamagedRootTakesTheWholeFile) {
  Sealed sealed(3 * kLeaf);
  sealed.tree->bytes[40] ^= 1;
  const RangeOutcome outcome = sealed.read_all();
  EXPECT_EQ(outcome.bad.size(), sealed.blocks());
  EXPECT_EQ(outcome.bad.front().tree_level, 1U);
}

TEST(VerifiedFile, ACutOrLostTreeIsATreeFault) {
  Sealed cut(3 * kLeaf);
  cut.tree->bytes.resize(3 * kBlockBytes);  // the last leaf tree block is gone
  EXPECT_EQ(cut.read_all().bad.front().block, 2 * merkle::kArity);
  Sealed lost(3 * kLeaf);
  lost.tree->open_error = ENOENT;
  EXPECT_EQ(lost.read_all().bad.front().kind, BadKind::tree);
}

TEST(VerifiedFile, ATreeForgedAfterItWasCheckedIsNotBelieved) {
  Sealed sealed(3 * kLeaf);
  EXPECT_TRUE(sealed.read_all().all_good());
  // Data and its leaf hash are changed together, so that they agree with each other but not with the root.
  sealed.data->bytes[0] ^= 1;
  const hash::Digest forged = hash::sha256(std::span<const std::uint8_t>(sealed.data->bytes).first(kBlockBytes));
  std::copy(forged.begin(), forged.end(), sealed.tree->bytes.begin() + kBlockBytes);
  EXPECT_EQ(numbers(sealed.read_all()), std::vector<std::uint64_t>{0});
}

TEST(VerifiedFile, ATreeThatDoesNotFitTheCacheIsCheckedAgain) {
  Sealed sealed(40 * kLeaf, 16 * kBlockBytes);  // 41 tree blocks, 16 kept
  EXPECT_TRUE(sealed.read_all().all_good());
  sealed.tree->bytes[kBlockBytes + 3] ^= 1;  // leaf tree block 0, long out of the cache
  EXPECT_EQ(sealed.read(0, 1).bad.front().kind, BadKind::tree);
}

TEST(VerifiedFile, AWarmTreeIsNotReadAgain) {
  Sealed sealed(3 * kLeaf);
  sealed.read_all();
  const int before = sealed.tree->reads.load();
  EXPECT_EQ(before, 2) << "the root, and the leaves in one read";
  sealed.read_all();
  EXPECT_EQ(sealed.tree->reads.load(), before);
}

TEST(VerifiedFile, AnotherSizeThanSealedFitsNothing) {
  Sealed sealed(2 * kBlockBytes + 5);
  VerifiedFile longer(2 * kBlockBytes + 6, sealed.digest, sealed.data, sealed.tree, sealed.engine, 2, sealed.cache, sealed.counters);
  AlignedBuffer buffer(kBlockBytes);
  EXPECT_EQ(longer.read_blocks(0, buffer.span()).bad.size(), 1U);
}

TEST(VerifiedFileThreads, ReadersOfAllPlacesAtOnceGetTheirBytes) {
  Sealed sealed(200 * kLeaf / 16, 16 * kBlockBytes);
  sealed.data->bytes[17 * kBlockBytes] ^= 1;
  std::atomic<int> wrong{0};
  std::vector<std::jthread> readers;
  for (unsigned t = 0; t < 8; ++t)
    readers.emplace_back([&, t] {
      std::mt19937_64 random(t);
      AlignedBuffer buffer(8 * kBlockBytes);
      for (int i = 0; i < 200; ++i) {
        const std::uint64_t first = random() % (sealed.blocks() - 8);
        const RangeOutcome outcome = sealed.file->read_blocks(first, buffer.span());
        const bool holds_bad = first <= 17 && 17 < first + 8;
        if (numbers(outcome) != (holds_bad ? std::vector<std::uint64_t>{17} : std::vector<std::uint64_t>{})) ++wrong;
        for (std::uint64_t b = first; b < first + 8; ++b)
          if (b != 17 && std::memcmp(buffer.data() + (b - first) * kBlockBytes, sealed.good.data() + b * kBlockBytes, kBlockBytes) != 0) ++wrong;
      }
    });
  readers.clear();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace vouchfs::verify
