// Our trees and digests against two programs that know nothing of us: fsverity (fs-verity) and veritysetup (dm-verity), on random sizes.
#include "unit/base/oracle.h"

#include <gtest/gtest.h>

#include <random>

#include "merkle/tree_builder.h"
#include "unit/merkle/pattern.h"

namespace vouchfs::merkle {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Ours {
  Bytes tree;
  BuiltTree built;
};

Ours build(const Bytes& file) {
  Ours ours;
  ours.tree.resize(Geometry(file.size()).tree_bytes());
  TreeBuilder builder(file.size(), hash::choose_engine(std::nullopt).engine, [&](std::uint64_t index, std::span<const std::uint8_t> bytes) -> Status {
    std::copy(bytes.begin(), bytes.end(), ours.tree.begin() + static_cast<std::ptrdiff_t>(index * 4096));
    return {};
  });
  EXPECT_TRUE(builder.append(file));
  const Result<BuiltTree> built = builder.finish();
  EXPECT_TRUE(built);
  if (built) ours.built = *built;
  return ours;
}

std::vector<std::size_t> random_sizes(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::size_t> sizes = {1, 4095, 4096, 4097, 128 * 4096, 128 * 4096 + 1};
  for (int i = 0; i < 12; ++i) sizes.push_back(1 + random() % (3 << 20));
  for (int i = 0; i < 2; ++i) sizes.push_back(64 * (1 << 20) + random() % (8 << 20));
  return sizes;
}

TEST(FsverityTool, AgreesOnTreeAndDigest) {
  const test::TemporaryFolder folder;
  for (const std::size_t size : random_sizes(41)) {
    const Bytes file = test::random_bytes(size, size);
    const std::string path = folder.write("data", file);
    const std::string line = test::run_tool({"fsverity", "digest", "--out-merkle-tree=" + folder.path("tree"), path});
    const Ours ours = build(file);
    ASSERT_EQ(hash::to_text(ours.built.digest), test::first_word(line)) << size << " bytes";
    ASSERT_TRUE(ours.tree == folder.read("tree")) << size << " bytes";
  }
}

TEST(FsverityTool, AgreesOnOtherParameters) {
  const test::TemporaryFolder folder;
  std::mt19937_64 random(42);
  for (int round = 0; round < 30; ++round) {
    const Bytes file = test::random_bytes(random() % 300'000, static_cast<std::uint64_t>(round));
    const bool sha512 = random() % 2 == 0;
    const Parameters parameters{sha512 ? Algorithm::sha512 : Algorithm::sha256, (sha512 ? 128ULL : 64ULL) << random() % 9,
                                test::random_bytes(random() % 33, random())};
    std::string salt;
    for (const std::uint8_t byte : parameters.salt) {
      char text[3];
      std::snprintf(text, sizeof text, "%02x", byte);
      salt += text;
    }
    std::vector<std::string> tool = {"fsverity", "digest", "--block-size=" + std::to_string(parameters.block_bytes),
                                     std::string("--hash-alg=") + (sha512 ? "sha512" : "sha256")};
    if (!salt.empty()) tool.push_back("--salt=" + salt);
    tool.push_back(folder.write("data", file));
    ASSERT_EQ(test::digest_of(file, parameters), test::first_word(test::run_tool(tool)))
        << file.size() << " bytes, blocks of " << parameters.block_bytes << ", salt " << salt;
  }
}

// dm-verity knows whole blocks only, and its root is our root; the digest with the length is fs-verity's own.
TEST(VeritysetupTool, FormatGivesOurTreeAndVerifyAcceptsIt) {
  const test::TemporaryFolder folder;
  std::mt19937_64 random(43);
  std::vector<std::size_t> blocks = {2, 127, 128, 129, 128 * 128 + 1};
  for (int i = 0; i < 8; ++i) blocks.push_back(2 + random() % 900);
  for (const std::size_t count : blocks) {
    const Bytes file = test::random_bytes(count * 4096, count);
    const std::string data = folder.write("data", file);
    const Ours ours = build(file);
    const std::string root = hash::to_hex(ours.built.root);
    const std::string tree = folder.write("tree", ours.tree);
    const std::vector<std::string> options = {"--no-superblock",        "--salt=-",      "--data-block-size=4096",
                                              "--hash-block-size=4096", "--hash=sha256", "--data-blocks=" + std::to_string(count)};
    std::filesystem::remove(folder.path("theirs"));  // it would be written over, not cut
    std::vector<std::string> format = {"veritysetup", "format", data, folder.path("theirs")};
    format.insert(format.end(), options.begin(), options.end());
    ASSERT_NE(test::run_tool(format).find(root), std::string::npos) << count << " blocks";
    ASSERT_TRUE(ours.tree == folder.read("theirs")) << count << " blocks";
    std::vector<std::string> verify = {"veritysetup", "verify", data, tree, root};
    verify.insert(verify.end(), options.begin(), options.end());
    EXPECT_EQ(test::ask_tool(verify).status, 0) << count << " blocks";
  }
}

// The oracle must be able to say no, or its yes means nothing.
TEST(VeritysetupTool, RefusesADamagedBlock) {
  const test::TemporaryFolder folder;
  Bytes file = test::random_bytes(20 * 4096, 44);
  const Ours ours = build(file);
  file[5 * 4096 + 17] ^= 1;
  const test::ToolAnswer answer =
      test::ask_tool({"veritysetup", "verify", folder.write("data", file), folder.write("tree", ours.tree), hash::to_hex(ours.built.root), "--no-superblock",
                      "--salt=-", "--data-block-size=4096", "--hash-block-size=4096", "--hash=sha256", "--data-blocks=20"});
  EXPECT_GT(answer.status, 0);
}

}  // namespace
}  // namespace vouchfs::merkle
