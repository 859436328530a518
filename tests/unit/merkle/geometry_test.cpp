// Geometry against an independent model: a list of levels, built by counting blocks one by one where that is possible.
#include "merkle/geometry.h"

#include <gtest/gtest.h>

#include <set>

namespace vouchfs::merkle {
namespace {

// Levels root first, as the format lays them out; no shared arithmetic with the code: multiplies up instead of dividing.
std::vector<std::uint64_t> model_levels(std::uint64_t data_blocks, std::uint64_t arity) {
  std::vector<std::uint64_t> root_first;
  std::uint64_t below = data_blocks;
  while (below > 1) {
    std::uint64_t blocks = below / arity;
    if (blocks * arity < below) ++blocks;
    root_first.insert(root_first.begin(), blocks);
    below = blocks;
  }
  return root_first;
}

void expect_fits_model(const Geometry& geometry, std::uint64_t data_blocks) {
  const std::vector<std::uint64_t> model = model_levels(data_blocks, geometry.arity());
  ASSERT_EQ(geometry.data_blocks(), data_blocks);
  ASSERT_EQ(geometry.levels(), model.size()) << data_blocks << " blocks";
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < model.size(); ++i) {
    const std::size_t level = model.size() - 1 - i;
    ASSERT_EQ(geometry.blocks_at(level), model[i]) << data_blocks << " blocks, level " << level;
    ASSERT_EQ(geometry.start_of(level), next) << data_blocks << " blocks, level " << level;
    next += model[i];
  }
  ASSERT_EQ(geometry.tree_blocks(), next);
  ASSERT_EQ(geometry.tree_bytes(), next * geometry.block_bytes());
}

TEST(Geometry, EveryBlockCountUpToTwoLevelsFitsTheModel) {
  for (std::uint64_t blocks = 0; blocks <= 129 * 128; ++blocks) expect_fits_model(Geometry(blocks * 4096), blocks);
}

TEST(Geometry, EveryEdgeOfEveryLevelFitsTheModel) {
  std::set<std::uint64_t> counts;
  for (std::uint64_t edge = 1; edge <= 1ULL << 48; edge *= 128)
    for (const std::uint64_t factor : {1U, 2U, 3U, 64U, 127U})
      for (std::uint64_t off = 0; off <= 600; ++off) counts.insert(edge * factor + 300 >= off ? edge * factor + 300 - off : 0);
  for (const std::uint64_t blocks : counts)
    if (blocks <= (1ULL << 60) / 4096) expect_fits_model(Geometry(blocks * 4096), blocks);
}

TEST(Geometry, OneByteMoreThanABlockIsAnotherBlock) {
  for (const std::uint64_t blocks : {1ULL, 2ULL, 127ULL, 128ULL, 129ULL, 16383ULL, 16384ULL, 16385ULL, 2097152ULL, 1ULL << 40}) {
    expect_fits_model(Geometry(blocks * 4096 - 1), blocks);
    expect_fits_model(Geometry(blocks * 4096 - 4095), blocks);
    expect_fits_model(Geometry(blocks * 4096 + 1), blocks + 1);
  }
}

TEST(Geometry, OtherBlockAndDigestSizesFitTheModel) {
  for (const std::uint64_t block_bytes : {128ULL, 512ULL, 1024ULL, 4096ULL, 65536ULL, 1ULL << 20}) {
    for (const std::uint64_t digest_bytes : {32ULL, 64ULL}) {
      for (std::uint64_t blocks = 0; blocks < 5000; ++blocks) {
        const Geometry geometry(blocks * block_bytes, block_bytes, digest_bytes);
        ASSERT_EQ(geometry.arity(), block_bytes / digest_bytes);
        expect_fits_model(geometry, blocks);
      }
    }
  }
}

TEST(Geometry, AFileOfAtMostOneBlockHasNoTree) {
  for (const std::uint64_t bytes : {0U, 1U, 4095U, 4096U}) {
    EXPECT_EQ(Geometry(bytes).levels(), 0U);
    EXPECT_EQ(Geometry(bytes).tree_bytes(), 0U);
  }
  EXPECT_EQ(Geometry(4097).tree_bytes(), 4096U);
}

// Sizes worked out by hand and seen on disk.
TEST(Geometry, KnownTreeSizes) {
  EXPECT_EQ(Geometry(5ULL << 30).tree_bytes(), 42'274'816U);
  EXPECT_EQ(Geometry(100'000'000).tree_bytes(), 794'624U);
  EXPECT_EQ(Geometry(100'000'000, 1024).tree_bytes(), 3'227'648U);
  EXPECT_EQ(Geometry(100'000'000, 4096, 64).tree_bytes(), 1'593'344U);
}

TEST(Geometry, TheLargestFileDoesNotOverflow) {
  const Geometry geometry(UINT64_MAX);
  EXPECT_EQ(geometry.data_blocks(), 1ULL << 52);
  EXPECT_EQ(geometry.blocks_at(geometry.levels() - 1), 1U);
  expect_fits_model(geometry, 1ULL << 52);
}

}  // namespace
}  // namespace vouchfs::merkle
