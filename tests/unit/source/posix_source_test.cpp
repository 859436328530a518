#include "source/posix_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/aligned_buffer.h"
#include "base/unique_fd.h"
#include "base/units.h"

namespace vouchfs::source {
namespace {

namespace stdfs = std::filesystem;

class PosixSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/vouchfs-source-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    write("file", std::string(10000, 'a'));
    root_ = *SourceRoot::open(folder_, true);
  }
  void TearDown() override { stdfs::remove_all(folder_); }

  void write(const std::string& name, const std::string& content) { std::ofstream(folder_ + "/" + name, std::ios::binary) << content; }
  // Renames a new file over the old one, as tools that replace files do.
  void replace(const std::string& name, const std::string& content) {
    write(name + ".new", content);
    stdfs::rename(folder_ + "/" + name + ".new", folder_ + "/" + name);
  }
  Result<std::string> read(PosixSource& source, std::uint64_t offset, std::size_t bytes, Freshness freshness = Freshness::usual) {
    AlignedBuffer buffer(bytes);
    VOUCHFS_ASSIGN(const std::size_t got, source.read(offset, buffer.span(), freshness));
    return std::string(reinterpret_cast<const char*>(buffer.data()), got);
  }

  std::string folder_;
  std::shared_ptr<const SourceRoot> root_;
  std::shared_ptr<HandlePool> pool_ = std::make_shared<HandlePool>(64);
};

TEST_F(PosixSourceTest, ReadsBlocksAndIsShortOnlyAtTheEnd) {
  PosixSource source(root_, "file", "model", pool_);
  EXPECT_EQ(*read(source, 0, 8192), std::string(8192, 'a'));
  EXPECT_EQ(*read(source, 8192, 8192), std::string(10000 - 8192, 'a'));
  EXPECT_EQ(*read(source, 12288, 4096), "");
}

TEST_F(PosixSourceTest, SeesAWriteInPlaceAtOnce) {
  PosixSource source(root_, "file", "model", pool_);
  EXPECT_EQ((*read(source, 0, 4096))[0], 'a');
  std::fstream(folder_ + "/file", std::ios::in | std::ios::out | std::ios::binary) << "b";
  EXPECT_EQ((*read(source, 0, 4096))[0], 'b');
}

TEST_F(PosixSourceTest, AReplacedFileIsLookedAtAgainPastTheCache) {
  PosixSource source(root_, "file", "model", pool_);
  EXPECT_EQ((*read(source, 0, 4096))[0], 'a');
  replace("file", std::string(10000, 'c'));
  EXPECT_EQ((*read(source, 0, 4096))[0], 'a') << "the inode that was opened is still read";
  EXPECT_EQ((*read(source, 0, 4096, Freshness::past_cache))[0], 'c');
  EXPECT_EQ((*read(source, 0, 4096))[0], 'c');
}

TEST_F(PosixSourceTest, AnAbsentFileIsNotFoundAndAFolderIsNoFile) {
  PosixSource absent(root_, "gone", "model", pool_);
  EXPECT_EQ(read(absent, 0, 4096).error().code, ErrorCode::not_found);
  stdfs::create_directory(folder_ + "/sub");
  PosixSource folder(root_, "sub", "model", pool_);
  EXPECT_EQ(read(folder, 0, 4096).error().sys_errno, EISDIR);
}

// proc is such a filesystem on every kernel; open(2) answers O_DIRECT with EINVAL there.
TEST_F(PosixSourceTest, AFilesystemWithoutDirectIoIsReadAllTheSame) {
  const UniqueFd direct(::open("/proc/version", O_RDONLY | O_CLOEXEC | O_DIRECT));
  ASSERT_TRUE(direct.get() < 0 && errno == EINVAL) << "proc takes O_DIRECT here: this test shows nothing";
  std::string wanted;
  std::getline(std::ifstream("/proc/version"), wanted);
  PosixSource source(*SourceRoot::open("/proc", true), "version", "model", pool_);
  EXPECT_EQ(read(source, 0, 4096).value(), wanted + "\n");
}

TEST_F(PosixSourceTest, AFifoDoesNotBlock) {
  ASSERT_EQ(::mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  PosixSource source(root_, "pipe", "model", pool_);
  EXPECT_EQ(read(source, 0, 4096).error().sys_errno, EINVAL);
}

TEST_F(PosixSourceTest, AFolderThatWasReplacedIsFoundByItsPath) {
  PosixSource source(root_, "file", "model", pool_);
  stdfs::rename(folder_, folder_ + ".old");
  stdfs::create_directory(folder_);
  write("file", std::string(5000, 'd'));
  stdfs::remove(folder_ + ".old/file");
  EXPECT_EQ((*read(source, 0, 4096))[0], 'd');
  stdfs::remove_all(folder_ + ".old");
}

TEST_F(PosixSourceTest, StampChangesWhenTheFileDoes) {
  PosixSource source(root_, "file", "model", pool_);
  const Stamp before = *source.stamp();
  EXPECT_EQ(before, *source.stamp());
  replace("file", std::string(10000, 'a'));
  EXPECT_NE(before, *source.stamp());
}

TEST_F(PosixSourceTest, ManySourcesHoldABoundedNumberOfDescriptors) {
  const auto small = std::make_shared<HandlePool>(4);
  std::vector<std::unique_ptr<PosixSource>> sources;
  const auto open_now = [] { return std::distance(stdfs::directory_iterator("/proc/self/fd"), stdfs::directory_iterator()); };
  const auto before = open_now();
  for (int i = 0; i < 20; ++i) {
    write("f" + std::to_string(i), "x");
    sources.push_back(std::make_unique<PosixSource>(root_, "f" + std::to_string(i), "model", small));
    EXPECT_EQ(*read(*sources.back(), 0, 4096), "x");
  }
  EXPECT_LE(open_now() - before, 5);
  EXPECT_EQ(*read(*sources.front(), 0, 4096), "x") << "a source whose descriptor was let go opens again";
}

}  // namespace
}  // namespace vouchfs::source
