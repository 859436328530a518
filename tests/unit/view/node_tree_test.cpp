#include "view/node_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "view/node_ids.h"

namespace vouchfs::view {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

hash::Digest digest_of(const char* text) { return hash::sha256(std::string_view(text)); }

NewNode file(const std::string& path, std::uint64_t bytes = 1) {
  NewNode node;
  node.path = path;
  node.what = "the sealed file '" + path + "'";
  node.kind = NodeKind::sealed_file;
  node.bytes = bytes;
  return node;
}

NodeScope scope_of(const char* model) {
  NodeScope scope;
  scope.model_digest = digest_of(model);
  return scope;
}

std::vector<std::string> names(const NodeTree& tree, std::uint64_t folder) {
  std::vector<std::string> out;
  for (const std::uint64_t id : tree.find(folder)->children) out.push_back(tree.find(id)->name);
  return out;
}

NodeTree tree_of(const NodeScope& scope, const std::vector<std::string>& paths) {
  NodeTree tree;
  for (const auto& path : paths) EXPECT_TRUE(tree.add_file(scope, file(path))) << path;
  tree.finish();
  return tree;
}

TEST(NodeIds, AreTheFirstEightBytesOfADocumentedHash) {
  // printf 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\0m\0sub/x' | sha256sum | cut -c1-16, read little-endian
  hash::Digest digest;
  digest.fill('a');
  const std::string message = std::string(32, 'a') + '\0' + "m" + '\0' + "sub/x";
  const hash::Digest expected = hash::sha256(std::string_view(message));
  std::uint64_t id = 0;
  for (std::size_t i = 8; i-- > 0;) id = id << 8 | expected[i];
  EXPECT_EQ(wished_id(digest, "m", "sub/x", 0), id);
  EXPECT_EQ(id, 0x7c97a9fd64116aa2ULL);
}

TEST(NodeIds, DependOnDigestNameAndPathAndOnWhereOneEnds) {
  const hash::Digest a = digest_of("a");
  std::set<std::uint64_t> ids = {wished_id(a, "", "x", 0),  wished_id(digest_of("b"), "", "x", 0),
                                 wished_id(a, "m", "x", 0), wished_id(a, "", "y", 0),
                                 wished_id(a, "x", "", 0),  wished_id(a, "", "x", 1)};
  EXPECT_EQ(ids.size(), 6U);
}

TEST(NodeIds, NeverAreZeroOrTheRootOrTaken) {
  const std::vector<std::uint64_t> wishes = {0, kRootId, 77, 78};
  const auto wish = [&](unsigned attempt) { return wishes.at(attempt); };
  EXPECT_EQ(first_free_id(wish, [](std::uint64_t) { return false; }), 77U);
  EXPECT_EQ(first_free_id(wish, [](std::uint64_t id) { return id == 77; }), 78U);
}

TEST(NodeTree, MakesFoldersAndSortsNamesBytewise) {
  const NodeTree tree = tree_of(scope_of("m"), {"a", "b/c/d", "b/x", "b.txt", "B", "\xc3\xa9"});
  EXPECT_THAT(names(tree, kRootId), ElementsAre("B", "a", "b", "b.txt", "\xc3\xa9"));
  const Node* b = tree.lookup(kRootId, "b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->kind, NodeKind::folder);
  EXPECT_EQ(b->subfolders, 1U);
  EXPECT_EQ(b->parent, kRootId);
  EXPECT_THAT(names(tree, b->id), ElementsAre("c", "x"));
  EXPECT_EQ(tree.find(kRootId)->subfolders, 1U);
  EXPECT_EQ(tree.find(kRootId)->parent, kRootId);
  EXPECT_EQ(tree.size(), 9U) << "root, b, b/c and six files";
}

TEST(NodeTree, LooksUpEveryNameAndNothingElse) {
  const NodeTree tree = tree_of(scope_of("m"), {"a", "aa", "ab", "b"});
  for (const char* name : {"a", "aa", "ab", "b"}) {
    const Node* node = tree.lookup(kRootId, name);
    ASSERT_NE(node, nullptr) << name;
    EXPECT_EQ(node->name, name);
    EXPECT_EQ(tree.find(node->id), node);
  }
  for (const char* name : {"", "A", "aaa", "c", "a/", ".", ".."}) EXPECT_EQ(tree.lookup(kRootId, name), nullptr) << name;
  EXPECT_EQ(tree.lookup(4711, "a"), nullptr);
  EXPECT_EQ(tree.lookup(tree.lookup(kRootId, "a")->id, "a"), nullptr) << "a file has no children";
  EXPECT_EQ(tree.find(0), nullptr);
}

TEST(NodeTree, GivesTheSameIdsInEveryInstanceAndUniqueOnes) {
  std::vector<std::string> paths;
  for (int i = 0; i < 2000; ++i) paths.push_back("folder" + std::to_string(i % 10) + "/file" + std::to_string(i));
  const NodeTree one = tree_of(scope_of("m"), paths);
  const NodeTree two = tree_of(scope_of("m"), paths);
  const NodeTree other = tree_of(scope_of("another model"), paths);
  ASSERT_EQ(one.size(), 2011U) << "a double id would have lost a node";
  std::size_t same = 0;
  for (const std::uint64_t folder : one.find(kRootId)->children)
    for (const std::uint64_t id : one.find(folder)->children) {
      ASSERT_NE(two.find(id), nullptr);
      EXPECT_EQ(two.find(id)->name, one.find(id)->name);
      same += other.find(id) != nullptr ? 1 : 0;
    }
  EXPECT_EQ(same, 0U) << "ids of another model are others";
}

TEST(NodeTree, TwoFilesOfOneNameAreBothNamedInTheError) {
  NodeTree tree;
  NewNode made = file("x.orig");
  made.what = "the synthesized file 'x.orig'";
  ASSERT_TRUE(tree.add_file(scope_of("m"), file("x.orig")));
  const Status status = tree.add_file(scope_of("m"), made);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().describe(), HasSubstr("the sealed file 'x.orig' and the synthesized file 'x.orig'"));
}

TEST(NodeTree, AFileCannotBeAFolderTooInEitherOrder) {
  NodeTree tree;
  ASSERT_TRUE(tree.add_file(scope_of("m"), file("a/b")));
  EXPECT_FALSE(tree.add_file(scope_of("m"), file("a")));
  EXPECT_FALSE(tree.add_file(scope_of("m"), file("a/b/c")));
  EXPECT_TRUE(tree.add_file(scope_of("m"), file("a/c")));
}

TEST(NodeTree, CountsBytesOfAllFilesAndKeepsMadeContent) {
  NodeTree tree;
  NewNode made = file("made", 5);
  made.kind = NodeKind::fixed_file;
  made.content = tree.keep("bytes");
  ASSERT_TRUE(tree.add_file(scope_of("m"), made));
  ASSERT_TRUE(tree.add_file(scope_of("m"), file("x", 4096)));
  for (int i = 0; i < 100; ++i) tree.keep(std::string(100, 'y'));
  tree.finish();
  EXPECT_EQ(tree.total_bytes(), 4101U);
  EXPECT_EQ(tree.lookup(kRootId, "made")->content, "bytes");
}

}  // namespace
}  // namespace vouchfs::view
