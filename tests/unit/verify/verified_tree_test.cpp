#include "verify/verified_tree.h"

#include "sealed_file.h"

namespace vouchfs::verify {
namespace {

constexpr std::uint64_t kLeaves = merkle::kArity + 1;  // they need two blocks above them, and these a root

// Only the tree is read.
struct Tree {
  explicit Tree(std::uint64_t cache_bytes = 4 << 20)
      : sealed(kLeaves * kLeaf, cache_bytes), tree(geometry, sealed.digest, sealed.tree, sealed.engine, 1, sealed.cache, sealed.counters) {}

  int reads() const { return sealed.tree->reads.load(); }
  void flip_leaf(std::uint64_t index) { sealed.tree->bytes[(geometry.start_of(0) + index) * kBlockBytes + 7] ^= 1; }
  // How many tree reads the leaf costs; the leaf must be had.
  int cost_of(std::uint64_t leaf, bool in_order) {
    const int before = reads();
    EXPECT_TRUE(tree.leaf(leaf, in_order)) << leaf;
    return reads() - before;
  }

  Sealed sealed;
  merkle::Geometry geometry{kLeaves * kLeaf};
  VerifiedTree tree;
};

TEST(VerifiedTree, ALoneReadCostsOneTreeReadALevel) {
  Tree t;
  ASSERT_EQ(t.geometry.levels(), 3U);
  EXPECT_EQ(t.cost_of(100, false), 3);
  EXPECT_EQ(t.cost_of(100, false), 0);
  EXPECT_EQ(t.cost_of(101, false), 1);
}

TEST(VerifiedTree, AReaderInOrderGetsARunOfLeavesInOneRead) {
  Tree t;
  EXPECT_EQ(t.cost_of(0, true), 3);
  for (std::uint64_t leaf = 1; leaf < VerifiedTree::kRunBlocks; ++leaf) EXPECT_EQ(t.cost_of(leaf, true), 0) << leaf;
  EXPECT_EQ(t.cost_of(VerifiedTree::kRunBlocks, true), 1);
}

TEST(VerifiedTree, WhoKeepsComingAtRandomGetsRunsToo) {
  Tree t;
  for (std::uint32_t i = 0; i < VerifiedTree::kLoneMisses; ++i) EXPECT_TRUE(t.tree.leaf(i, false));
  EXPECT_EQ(t.cost_of(70, false), 1);
  EXPECT_EQ(t.cost_of(64, false), 0) << "it came with leaf 70";
  EXPECT_EQ(t.cost_of(95, false), 0);
  EXPECT_EQ(t.cost_of(96, false), 1);
}

TEST(VerifiedTree, NoRunsAtRandomWhereTheCacheCannotHoldTheTree) {
  Tree t(16 * kBlockBytes);
  for (std::uint64_t i = 0; i < 2UL * VerifiedTree::kLoneMisses; ++i) EXPECT_TRUE(t.tree.leaf(i, false));
  EXPECT_GE(t.cost_of(70, false), 1);
  EXPECT_EQ(t.cost_of(71, false), 1);
}

TEST(VerifiedTree, AWrongLeafOfARunIsTheOnlyOneThatIsRefused) {
  Tree t;
  t.flip_leaf(5);
  for (std::uint64_t leaf = 0; leaf < VerifiedTree::kRunBlocks; ++leaf) {
    const VerifiedTree::Found found = t.tree.leaf(leaf, true);
    EXPECT_EQ(found.has_value(), leaf != 5) << leaf;
    if (found) continue;
    EXPECT_EQ(found.error().level, 0U);
    EXPECT_EQ(found.error().block, t.geometry.start_of(0) + 5);
    EXPECT_TRUE(found.error().has_expected && found.error().has_actual);
    EXPECT_NE(found.error().expected, found.error().actual);
  }
}

TEST(VerifiedTree, ALeafThatIsWrongOnlyInTheCacheOfTheSourceIsReadPastIt) {
  Tree t;
  t.sealed.tree->flipped_once_in_cache.insert(t.geometry.start_of(0) + 5);
  EXPECT_TRUE(t.tree.leaf(5, true));
}

TEST(VerifiedTree, ATreeThatEndsInARunGivesTheLeavesBeforeItsEnd) {
  Sealed sealed(VerifiedTree::kRunBlocks * kLeaf);  // its leaves come last in the file
  const merkle::Geometry geometry(sealed.good.size());
  sealed.tree->bytes.resize(sealed.tree->bytes.size() - 3 * kBlockBytes - 1);
  const VerifiedTree tree(geometry, sealed.digest, sealed.tree, sealed.engine, 1, sealed.cache, sealed.counters);
  EXPECT_TRUE(tree.leaf(0, true));
  EXPECT_TRUE(tree.leaf(VerifiedTree::kRunBlocks - 5, true));
  const VerifiedTree::Found cut = tree.leaf(VerifiedTree::kRunBlocks - 1, true);
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().detail.find("the tree ends at byte"), std::string::npos) << cut.error().detail;
}

TEST(VerifiedTree, ASourceThatFailsInARunIsAskedForTheOneLeaf) {
  Tree t;
  t.sealed.tree->failing[t.geometry.start_of(0) + 6] = EIO;
  EXPECT_TRUE(t.tree.leaf(5, true));
  const VerifiedTree::Found unread = t.tree.leaf(6, true);
  ASSERT_FALSE(unread);
  EXPECT_EQ(unread.error().sys_errno, EIO);
}

}  // namespace
}  // namespace vouchfs::verify
