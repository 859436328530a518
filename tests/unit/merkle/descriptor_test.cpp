#include "merkle/descriptor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hash/sha256.h"
#include "unit/base/oracle.h"

namespace vouchfs::merkle {
namespace {

hash::Digest some_root() {
  hash::Digest root{};
  for (std::size_t i = 0; i < root.size(); ++i) root[i] = static_cast<std::uint8_t>(0x80 + i);
  return root;
}

TEST(Descriptor, FieldsLieWhereTheKernelsStructHasThem) {
  const hash::Digest root = some_root();
  const std::vector<std::uint8_t> salt = {0xAA, 0xBB, 0xCC};
  const auto bytes = descriptor_bytes({kAlgorithmSha256, 12, 0x0102030405060708ULL, root, salt});
  const std::vector<std::uint8_t> head = {1, 1, 12, 3, 0, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1};
  EXPECT_TRUE(std::equal(head.begin(), head.end(), bytes.begin()));
  EXPECT_TRUE(std::equal(root.begin(), root.end(), bytes.begin() + 16));
  EXPECT_TRUE(std::equal(salt.begin(), salt.end(), bytes.begin() + 80));
  const auto zero = [&](std::size_t from, std::size_t to) {
    return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.begin() + static_cast<std::ptrdiff_t>(to),
                       [](std::uint8_t b) { return b == 0; });
  };
  EXPECT_TRUE(zero(48, 80));
  EXPECT_TRUE(zero(83, 256));
}

TEST(Descriptor, SameBytesAsTheFsverityTool) {
  const test::TemporaryFolder folder;
  const std::vector<std::uint8_t> data = test::random_bytes(3000, 21);
  const std::string path = folder.write("data", data);
  test::run_tool({"fsverity", "digest", "--out-descriptor=" + folder.path("descriptor"), path});
  std::vector<std::uint8_t> padded = data;
  padded.resize(4096);
  const hash::Digest root = hash::sha256(std::span<const std::uint8_t>(padded));
  Descriptor descriptor;
  descriptor.file_bytes = data.size();
  descriptor.root = root;
  const auto bytes = descriptor_bytes(descriptor);
  EXPECT_EQ(std::vector<std::uint8_t>(bytes.begin(), bytes.end()), folder.read("descriptor"));
}

TEST(FileDigest, IsTheHashOfTheDescriptor) {
  const hash::Digest root = some_root();
  Descriptor descriptor;
  descriptor.file_bytes = 123456789;
  descriptor.root = root;
  EXPECT_EQ(file_digest(root, 123456789), hash::sha256(std::span<const std::uint8_t>(descriptor_bytes(descriptor))));
}

TEST(FileDigest, SeparatesAFileFromItsPaddedSelf) { EXPECT_NE(file_digest(some_root(), 4095), file_digest(some_root(), 4096)); }

}  // namespace
}  // namespace vouchfs::merkle
