#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>

#include "unit/base/oracle.h"

namespace vouchfs {
namespace {

class FileTest : public testing::Test {
 protected:
  std::string write(const std::string& text) const { return folder_.write("file", std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size())); }
  UniqueFd open(const std::string& path, int flags) const { return std::move(open_at(AT_FDCWD, path, flags, path).value()); }

  const test::TemporaryFolder folder_;
};

TEST_F(FileTest, OpenedDescriptorsDoNotLeakIntoChildren) {
  const UniqueFd fd = open(write("x"), O_RDONLY);
  EXPECT_NE(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(FileTest, AnAbsentFileIsNotFoundUnderItsShownName) {
  const Result<UniqueFd> fd = open_at(AT_FDCWD, folder_.path("absent"), O_RDONLY, "model/absent");
  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().code, ErrorCode::not_found);
  EXPECT_EQ(fd.error().where.file, "model/absent");
  EXPECT_EQ(fd.error().sys_errno, ENOENT);
}

TEST_F(FileTest, ReadsAWholeFileUpToTheLimit) {
  const std::string path = write("0123456789");
  EXPECT_EQ(read_whole_file(AT_FDCWD, path, 10, path), "0123456789");
  const Result<std::string> refused = read_whole_file(AT_FDCWD, path, 9, path);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::bad_format);
}

TEST_F(FileTest, ReadsAnEmptyFile) {
  const std::string path = write("");
  EXPECT_EQ(read_whole_file(AT_FDCWD, path, 0, path), "");
}

TEST_F(FileTest, AFolderOrAPipeIsNoFileToReadAndNeverBlocks) {
  const std::string pipe = folder_.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, folder_.path(".")}) {
    const Result<std::string> read = read_whole_file(AT_FDCWD, path, 100, path);
    ASSERT_FALSE(read) << path;
    EXPECT_EQ(read.error().code, ErrorCode::bad_format);
  }
}

TEST_F(FileTest, ReadFullStopsAtTheEndOfTheFile) {
  const std::string path = write("0123456789");
  const UniqueFd fd = open(path, O_RDONLY);
  std::vector<std::uint8_t> buffer(8);
  EXPECT_EQ(read_full(fd.get(), 0, buffer, path), 8U);
  EXPECT_EQ(read_full(fd.get(), 6, buffer, path), 4U);
  EXPECT_EQ(buffer[0], '6');
  EXPECT_EQ(read_full(fd.get(), 10, buffer, path), 0U);
  EXPECT_EQ(read_full(fd.get(), 1000, buffer, path), 0U);
}

TEST_F(FileTest, AFailedReadNamesFileAndOffset) {
  const UniqueFd folder = open(folder_.path("."), O_RDONLY);
  std::vector<std::uint8_t> buffer(8);
  const Result<std::size_t> got = read_full(folder.get(), 12, buffer, "a folder");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::io);
  EXPECT_EQ(got.error().sys_errno, EISDIR);
  EXPECT_EQ(got.error().where.offset, 12U);
  EXPECT_EQ(got.error().where.file, "a folder");
}

TEST_F(FileTest, WriteFullPutsBytesAtTheirOffset) {
  const std::string path = write("0123456789");
  const UniqueFd fd = open(path, O_RDWR);
  const std::vector<std::uint8_t> bytes = {'a', 'b', 'c'};
  ASSERT_TRUE(write_full(fd.get(), 4, bytes, path));
  ASSERT_TRUE(write_full(fd.get(), 12, bytes, path));
  ASSERT_TRUE(sync_fd(fd.get(), path));
  EXPECT_EQ(read_whole_file(AT_FDCWD, path, 100, path), std::string("0123abc789\0\0abc", 15));
}

TEST_F(FileTest, AFullDiskIsAnIoErrorWithItsErrno) {
  const UniqueFd fd = open("/dev/full", O_WRONLY);
  const Status status = write_full(fd.get(), 0, std::vector<std::uint8_t>(10), "/dev/full");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().sys_errno, ENOSPC);
}

TEST(UniqueFd, ClosesOnceAndHandsOn) {
  int number = -1;
  {
    UniqueFd first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = first.get();
    ASSERT_GE(number, 0);
    UniqueFd second = std::move(first);
    EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move): that is what is tested
    EXPECT_EQ(second.get(), number);
    EXPECT_EQ(::fcntl(number, F_GETFD) >= 0, true);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST(UniqueFd, AssignmentClosesTheOldOne) {
  UniqueFd first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int old = first.get();
  UniqueFd second(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  first = std::move(second);
  EXPECT_EQ(::fcntl(old, F_GETFD), -1);
  EXPECT_TRUE(first.valid());
}

TEST(UniqueFd, ReleaseGivesUpOwnership) {
  UniqueFd first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd second(first.release());
  EXPECT_FALSE(first.valid());
  EXPECT_TRUE(second.valid());
}

}  // namespace
}  // namespace vouchfs
