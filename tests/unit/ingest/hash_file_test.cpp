#include "ingest/hash_file.h"

#include <fcntl.h>

#include "base/file.h"
#include "unit/ingest/model_folder.h"

namespace vouchfs::ingest {
namespace {

class HashFile : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  Result<HashedFile> hash(const std::string& path, std::uint64_t bytes, const merkle::TreeSink& sink = {}) {
    const auto fd = open_at(AT_FDCWD, path, O_RDONLY, path);
    return hash_file(fd->get(), bytes, path, sink, {test::engine(), &done, &cancel, &stop});
  }
  test::TemporaryFolder folder;
  std::atomic<std::uint64_t> done{0};
  CancelFlag cancel;
  std::atomic<bool> stop{false};
};

TEST_P(HashFile, GivesWhatSha256sumAndFsverityGiveAndFsveritysTree) {
  const std::string path = folder.write("file", test::random_bytes(GetParam(), GetParam()));
  std::string tree;
  const auto hashed = hash(path, GetParam(), [&](std::uint64_t block, std::span<const std::uint8_t> bytes) -> Status {
    tree.resize(std::max<std::size_t>(tree.size(), (block + 1) * kBlockBytes));
    std::copy(bytes.begin(), bytes.end(), tree.begin() + static_cast<std::ptrdiff_t>(block * kBlockBytes));
    return {};
  });
  ASSERT_TRUE(hashed) << hashed.error().describe();
  EXPECT_EQ(hash::to_hex(hashed->sha256), test::first_word(test::run_tool({"sha256sum", path})));
  EXPECT_EQ(hash::to_hex(hashed->fsverity), test::first_word(test::run_tool({"fsverity", "digest", "--compact", "--out-merkle-tree=" + folder.path("tree"), path})));
  EXPECT_EQ(tree, test::read_text(folder.path("tree")));
  EXPECT_EQ(done, GetParam());
}

// Around the block, the buffer of a read, the size from which threads share the work, and what goes round their ring twice.
INSTANTIATE_TEST_SUITE_P(Sizes, HashFile,
                         ::testing::Values(0U, 1U, 4096U, 4097U, kReadBytes - 1, kReadBytes, kReadBytes + 1, kPipelineBytes - 1, kPipelineBytes,
                                           kPipelineBytes + 1, 2 * kPipelineBytes + kReadBytes + 4095));

using HashFileFailing = HashFile;

TEST_F(HashFileFailing, AShorterFileThanAnnouncedHasChanged) {
  for (const std::uint64_t bytes : {std::uint64_t{5000}, kPipelineBytes + 5000}) {
    const std::string path = folder.write("file", test::random_bytes(bytes, 1));
    for (const std::uint64_t announced : {bytes + 1, bytes + kReadBytes}) {
      const auto hashed = hash(path, announced);
      ASSERT_FALSE(hashed);
      EXPECT_EQ(hashed.error().code, ErrorCode::changed);
      EXPECT_EQ(hashed.error().where.file, path);
    }
  }
}

TEST_F(HashFileFailing, ALongerFileThanAnnouncedIsReadAsFarAsItWas) {
  const auto content = test::random_bytes(kPipelineBytes + 5000, 1);
  const std::string path = folder.write("file", content);
  for (const std::size_t announced : {std::size_t{4999}, static_cast<std::size_t>(kPipelineBytes) + 4999}) {
    done = 0;
    const auto hashed = hash(path, announced);
    ASSERT_TRUE(hashed);
    EXPECT_EQ(hashed->sha256, hash::sha256(std::span(content).first(announced)));
    EXPECT_EQ(done, announced);
  }
}

TEST_F(HashFileFailing, AFailingSinkEndsALargeFile) {
  const std::string path = folder.write("file", test::random_bytes(2 * kPipelineBytes, 1));
  const auto hashed = hash(path, 2 * kPipelineBytes, [](std::uint64_t, std::span<const std::uint8_t>) -> Status { return fail(ErrorCode::io, "no room"); });
  ASSERT_FALSE(hashed);
  EXPECT_EQ(hashed.error().message, "no room");
}

TEST_F(HashFileFailing, ALargeFileIsHashedAsGitDoesToo) {
  const auto content = test::random_bytes(kPipelineBytes + 5000, 1);
  const std::string path = folder.write("file", content);
  const auto fd = open_at(AT_FDCWD, path, O_RDONLY, path);
  const auto hashed = hash_file(fd->get(), content.size(), path, {}, {test::engine(), &done, &cancel, &stop}, true);
  ASSERT_TRUE(hashed && hashed->git_sha1);
  EXPECT_EQ(hash::to_hex(*hashed->git_sha1), test::first_word(test::run_tool({"git", "hash-object", "--no-filters", path})));
}

TEST_F(HashFileFailing, EndsWhenCancelledOrStopped) {
  for (const std::uint64_t bytes : {std::uint64_t{5000}, kPipelineBytes}) {
    const std::string path = folder.write("file", test::random_bytes(bytes, 1));
    stop = true;
    EXPECT_EQ(hash(path, bytes).error().code, ErrorCode::cancelled);
    stop = false;
    CancelFlag requested;
    requested.request();
    const auto fd = open_at(AT_FDCWD, path, O_RDONLY, path);
    EXPECT_EQ(hash_file(fd->get(), bytes, path, {}, {test::engine(), &done, &requested, &stop}).error().code, ErrorCode::cancelled);
  }
  EXPECT_EQ(done, 0U);
}

}  // namespace
}  // namespace vouchfs::ingest
