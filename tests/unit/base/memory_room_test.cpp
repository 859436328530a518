#include "base/memory_room.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace vouchfs {
namespace {

class MemoryRoomTest : public testing::Test {
 protected:
  MemoryRoomTest() {
    std::string name = (std::filesystem::temp_directory_path() / "vouchfs-room-XXXXXX").string();
    dir_ = ::mkdtemp(name.data());
    write("meminfo", "MemTotal:       9000 kB\nMemFree:         100 kB\nMemAvailable:   8000 kB\n");
  }
  ~MemoryRoomTest() override { std::filesystem::remove_all(dir_); }
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = dir_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::optional<std::uint64_t> room() const { return memory_room({dir_ / "meminfo", dir_ / "cgroup", dir_ / "groups"}); }
  std::filesystem::path dir_;
};

TEST_F(MemoryRoomTest, IsWhatTheMachineHasWhereNoGroupSaysLess) {
  EXPECT_EQ(room(), 8000U * 1024);
  write("cgroup", "0::/a/b\n");
  write("groups/a/b/memory.max", "max\n");
  EXPECT_EQ(room(), 8000U * 1024);
  write("groups/a/b/memory.max", "999999999\n");
  EXPECT_EQ(room(), 8000U * 1024);
}

TEST_F(MemoryRoomTest, IsWhatAGroupLeavesBesideMemoryThatCannotBeDropped) {
  write("cgroup", "1:memory:/old\n0::/a/b\n");
  write("groups/a/b/memory.max", "1000000\n");
  EXPECT_EQ(room(), 1000000U);
  write("groups/a/b/memory.stat", "anon 100000\nfile 900000\nkernel 7\nshmem 50000\nshmem_thp 3\n");
  EXPECT_EQ(room(), 850000U);
  write("groups/a/b/memory.stat", "anon 2000000\n");
  EXPECT_EQ(room(), 0U);
}

TEST_F(MemoryRoomTest, TheTightestGroupAboveCounts) {
  write("cgroup", "0::/a/b\n");
  write("groups/a/b/memory.max", "3000000\n");
  write("groups/a/memory.max", "2000000\n");
  EXPECT_EQ(room(), 2000000U);
  write("groups/memory.max", "1000000\n");
  EXPECT_EQ(room(), 1000000U);
  write("cgroup", "0::/\n");  // in a container that sees its own group as the root
  write("groups/memory.max", "900000\n");
  EXPECT_EQ(room(), 900000U);
}

TEST_F(MemoryRoomTest, IsAbsentWhenNothingIsSaid) {
  write("meminfo", "MemTotal: 9000 kB\n");
  EXPECT_FALSE(room());
}

TEST_F(MemoryRoomTest, OfThisMachineIsKnown) { EXPECT_GT(memory_room().value_or(0), 0U); }

}  // namespace
}  // namespace vouchfs
