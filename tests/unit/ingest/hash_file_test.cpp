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

// Around the block, the read buffer (4 MiB), and the size from which a second thread helps (8 MiB).
INSTANTIATE_TEST_SUITE_P(Sizes, HashFile,
                         ::testing::Values(0U, 1U, 4096U, 4097U, kReadBytes - 1, kReadBytes, kReadBytes + 1, 2 * kReadBytes - 1, 2 * kReadBytes, 3 * kReadBytes + 4095));

using HashFileFailing = HashFile;

TEST_F(HashFileFailing, AShorterFileThanAnnouncedHasChanged) {
  const std::string path = folder.write("file", test::random_bytes(5000, 1));
  const auto hashed = hash(path, 5001);
  ASSERT_FALSE(hashed);
  EXPECT_EQ(hashed.error().code, ErrorCode::changed);
  EXPECT_EQ(hashed.error().where.file, path);
}

TEST_F(HashFileFailing, AFailingSinkEndsALargeFile) {
  const std::string path = folder.write("file", test::random_bytes(3 * kReadBytes, 1));
  const auto hashed = hash(path, 3 * kReadBytes, [](std::uint64_t, std::span<const std::uint8_t>) -> Status { return fail(ErrorCode::io, "no room"); });
  ASSERT_FALSE(hashed);
  EXPECT_EQ(hashed.error().message, "no room");
}

TEST_F(HashFileFailing, EndsWhenCancelledOrStopped) {
  const std::string path = folder.write("file", test::random_bytes(5000, 1));
  stop = true;
  EXPECT_EQ(hash(path, 5000).error().code, ErrorCode::cancelled);
  stop = false;
  cancel.request();
  EXPECT_EQ(hash(path, 5000).error().code, ErrorCode::cancelled);
  EXPECT_EQ(done, 0U);
}

}  // namespace
}  // namespace vouchfs::ingest
