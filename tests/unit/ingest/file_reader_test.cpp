#include "ingest/file_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/aligned_buffer.h"
#include "base/file.h"
#include "base/units.h"
#include "unit/base/oracle.h"

namespace vouchfs::ingest {
namespace {

constexpr std::size_t kTail = 1234;
constexpr std::uint64_t kBytes = kDirectBytes + kTail;

class FileReaderTest : public ::testing::Test {
 protected:
  UniqueFd open() const { return UniqueFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)); }
  // Out of the page cache, as far as the filesystem lets go of it.
  void chill(int fd) const {
    ASSERT_EQ(::fsync(fd), 0);
    ASSERT_EQ(::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
  }
  bool direct_io() const { return UniqueFd(::open(path_.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC)).valid(); }

  std::vector<std::uint8_t> all_of(const FileReader& reader) const {
    AlignedBuffer buffer(3U << 20);
    std::vector<std::uint8_t> all;
    for (;;) {
      const auto got = reader.read(all.size(), buffer.span());
      if (!got) ADD_FAILURE() << got.error().describe();
      if (!got) return all;
      all.insert(all.end(), buffer.data(), buffer.data() + *got);
      if (*got < buffer.size()) return all;
    }
  }

  test::TemporaryFolder folder_;
  const std::vector<std::uint8_t> content_ = test::random_bytes(kBytes, 1);
  const std::string path_ = folder_.write("file", content_);
};

TEST_F(FileReaderTest, AFileInTheCacheIsReadFromThere) {
  const UniqueFd fd = open();
  AlignedBuffer buffer(kBytes);
  ASSERT_TRUE(read_full(fd.get(), 0, buffer.span(), path_));
  EXPECT_TRUE(mostly_cached(fd.get(), kBytes));
  const FileReader reader(fd.get(), kBytes, path_);
  EXPECT_FALSE(reader.direct());
  EXPECT_EQ(all_of(reader), content_);
}

TEST_F(FileReaderTest, AColdFileIsReadPastTheCacheAndLeavesNothingThere) {
  const UniqueFd fd = open();
  chill(fd.get());
  if (mostly_cached(fd.get(), kBytes) || !direct_io()) GTEST_SKIP() << "this filesystem keeps its pages or has no direct I/O";
  const FileReader reader(fd.get(), kBytes, path_);
  EXPECT_TRUE(reader.direct());
  EXPECT_EQ(all_of(reader), content_);
  EXPECT_FALSE(mostly_cached(fd.get(), kBytes));
}

TEST_F(FileReaderTest, ASmallFileGoesThroughTheCache) {
  const UniqueFd fd = open();
  chill(fd.get());
  EXPECT_FALSE(FileReader(fd.get(), kDirectBytes - 1, path_).direct());
}

TEST_F(FileReaderTest, AFileThatLostItsNameIsReadOn) {
  const UniqueFd fd = open();
  chill(fd.get());
  std::filesystem::remove(path_);
  EXPECT_EQ(all_of(FileReader(fd.get(), kBytes, path_)), content_);
}

TEST_F(FileReaderTest, AFaultIsToldWithNameAndErrno) {
  const UniqueFd folder(::open(folder_.path("").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  AlignedBuffer buffer(kBlockBytes);
  const auto got = FileReader(folder.get(), kBytes, "shown").read(0, buffer.span());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().sys_errno, EISDIR);
  EXPECT_EQ(got.error().where.file, "shown");
}

}  // namespace
}  // namespace vouchfs::ingest
