// The builder against a model that holds the whole file and all levels in memory: tree bytes, root and digest, around every level edge.
#include "merkle/tree_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "merkle/descriptor.h"
#include "unit/base/oracle.h"

namespace vouchfs::merkle {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Tree {
  Bytes bytes;  // as in a tree file
  hash::Digest root{};
};

Bytes hashes_of_blocks(Bytes padded) {
  padded.resize((padded.size() + 4095) / 4096 * 4096);
  Bytes hashes;
  for (std::size_t at = 0; at < padded.size(); at += 4096) {
    const hash::Digest digest = hash::sha256(std::span<const std::uint8_t>(padded).subspan(at, 4096));
    hashes.insert(hashes.end(), digest.begin(), digest.end());
  }
  return hashes;
}

// Straight from the definition: hash a level, pad it, put it in front of the tree, go on until one hash is left.
Tree model_tree(const Bytes& file) {
  Tree tree;
  if (file.empty()) return tree;
  Bytes level = hashes_of_blocks(file);
  while (level.size() > 32) {
    Bytes hashes = level;
    level.resize((level.size() + 4095) / 4096 * 4096);
    tree.bytes.insert(tree.bytes.begin(), level.begin(), level.end());
    level = hashes_of_blocks(std::move(hashes));
  }
  std::copy(level.begin(), level.end(), tree.root.begin());
  return tree;
}

struct Built {
  Tree tree;
  hash::Digest digest{};
};

// Collects what the sink gets; every tree block must come exactly once.
Built build(const Bytes& file, std::size_t piece, const std::shared_ptr<const hash::Sha256Engine>& engine) {
  Built built;
  std::map<std::uint64_t, Bytes> blocks;
  TreeBuilder builder(file.size(), engine, [&](std::uint64_t index, std::span<const std::uint8_t> bytes) -> Status {
    EXPECT_EQ(bytes.size(), 4096U);
    EXPECT_TRUE(blocks.emplace(index, Bytes(bytes.begin(), bytes.end())).second) << "tree block " << index << " came twice";
    return {};
  });
  for (std::size_t at = 0; at < file.size(); at += piece) {
    const Status status = builder.append(std::span(file).subspan(at, std::min(piece, file.size() - at)));
    EXPECT_TRUE(status) << status.error().describe();
  }
  const Result<BuiltTree> result = builder.finish();
  if (!result) {
    ADD_FAILURE() << result.error().describe();
    return built;
  }
  for (const auto& [index, bytes] : blocks) {
    EXPECT_EQ(index * 4096, built.tree.bytes.size()) << "a tree block is missing";
    built.tree.bytes.insert(built.tree.bytes.end(), bytes.begin(), bytes.end());
  }
  built.tree.root = result->root;
  built.digest = result->digest;
  return built;
}

void expect_like_model(const Bytes& file, std::size_t piece, const std::shared_ptr<const hash::Sha256Engine>& engine) {
  const Tree model = model_tree(file);
  const Built built = build(file, piece, engine);
  ASSERT_EQ(built.tree.root, model.root) << file.size() << " bytes in pieces of " << piece;
  ASSERT_TRUE(built.tree.bytes == model.bytes) << file.size() << " bytes in pieces of " << piece;
  ASSERT_EQ(built.digest, file_digest(model.root, file.size()));
}

class TreeBuilderTest : public testing::Test {
 protected:
  const std::shared_ptr<const hash::Sha256Engine> engine_ = hash::choose_engine(std::nullopt).engine;
};

TEST_F(TreeBuilderTest, EveryBlockCountAroundTheFirstTwoEdgesGivesTheModelsTree) {
  const Bytes all = test::random_bytes(260 * 4096 + 1, 11);
  for (std::size_t blocks = 0; blocks <= 260; ++blocks) {
    if (blocks > 10 && blocks % 128 > 4 && blocks % 128 < 124) continue;
    for (const std::ptrdiff_t off : {-4095, -1, 0, 1}) {
      const auto size = static_cast<std::ptrdiff_t>(blocks * 4096) + off;
      if (size >= 0) expect_like_model(Bytes(all.begin(), all.begin() + size), 1 << 20, engine_);
    }
  }
}

TEST_F(TreeBuilderTest, TheEdgeOfTheSecondLevelGivesTheModelsTree) {
  constexpr std::size_t kEdge = 128 * 128 * 4096;
  Bytes file = test::random_bytes(kEdge + 4097, 12);
  for (const std::size_t size : {kEdge + 4097, kEdge + 1, kEdge, kEdge - 1, kEdge - 4097}) {
    file.resize(size);
    expect_like_model(file, 8 << 20, engine_);
  }
}

TEST_F(TreeBuilderTest, PiecesOfAnySizeGiveTheSameTree) {
  const Bytes file = test::random_bytes(150 * 4096 + 777, 13);
  for (const std::size_t piece : {1UL, 7UL, 4095UL, 4096UL, 4097UL, 8191UL, 8192UL, 128UL * 4096, 128UL * 4096 + 1, 129UL * 4096, file.size()})
    expect_like_model(file, piece, engine_);
}

TEST_F(TreeBuilderTest, PiecesOfMixedSizesGiveTheSameTree) {
  const Bytes file = test::random_bytes(300 * 4096 + 5, 14);
  const Tree model = model_tree(file);
  std::mt19937_64 random(15);
  for (int round = 0; round < 50; ++round) {
    TreeBuilder builder(file.size(), engine_, {});
    for (std::size_t at = 0; at < file.size();) {
      const std::size_t count = std::min<std::size_t>(file.size() - at, random() % (random() % 4 == 0 ? 600'000 : 9'000));
      ASSERT_TRUE(builder.append(std::span(file).subspan(at, count)));
      at += count;
    }
    const Result<BuiltTree> built = builder.finish();
    ASSERT_TRUE(built);
    ASSERT_EQ(built->root, model.root);
  }
}

TEST_F(TreeBuilderTest, BothBackendsBuildTheSameTree) {
  const Bytes file = test::random_bytes(1000 * 4096 + 99, 16);
  expect_like_model(file, 1 << 20, hash::make_openssl_engine());
  if (const auto fast = hash::make_multi_buffer_engine()) expect_like_model(file, 1 << 20, fast);
}

TEST_F(TreeBuilderTest, AnEmptyFileHasAZeroRootAndNoTree) {
  const Built built = build({}, 1, engine_);
  EXPECT_EQ(built.tree.root, hash::Digest{});
  EXPECT_TRUE(built.tree.bytes.empty());
}

TEST_F(TreeBuilderTest, MoreBytesThanAnnouncedAreRefused) {
  const Bytes file = test::random_bytes(5000, 17);
  TreeBuilder builder(4999, engine_, {});
  const Status status = builder.append(file);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::changed);
  EXPECT_NE(status.error().message.find("4999"), std::string::npos) << status.error().message;
}

TEST_F(TreeBuilderTest, FewerBytesThanAnnouncedAreRefused) {
  const Bytes file = test::random_bytes(5000, 18);
  TreeBuilder builder(5001, engine_, {});
  ASSERT_TRUE(builder.append(file));
  const Result<BuiltTree> built = builder.finish();
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, ErrorCode::changed);
}

TEST_F(TreeBuilderTest, AFailingSinkStopsTheWork) {
  const Bytes file = test::random_bytes(400 * 4096, 19);
  int calls = 0;
  TreeBuilder builder(file.size(), engine_, [&](std::uint64_t, std::span<const std::uint8_t>) -> Status {
    ++calls;
    return fail(ErrorCode::io, "the disk is full");
  });
  const Status status = builder.append(file);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the disk is full");
  EXPECT_EQ(calls, 1);
}

TEST_F(TreeBuilderTest, ASinkThatFailsAtTheRootFailsTheFinish) {
  const Bytes file = test::random_bytes(3 * 4096, 20);
  TreeBuilder builder(file.size(), engine_, [](std::uint64_t, std::span<const std::uint8_t>) -> Status { return fail(ErrorCode::io, "no"); });
  ASSERT_TRUE(builder.append(file));
  EXPECT_FALSE(builder.finish());
}

}  // namespace
}  // namespace vouchfs::merkle
