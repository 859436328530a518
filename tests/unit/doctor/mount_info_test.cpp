// Entries of /proc/self/mountinfo as proc(5) gives them.
#include "doctor/mount_info.h"

#include <gtest/gtest.h>

#include <sstream>

namespace vouchfs::doctor {
namespace {

constexpr const char* kMountInfo =
    "22 27 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
    "27 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "90 27 0:52 /export /mnt/models rw,relatime shared:40 master:2 - nfs4 server:/export rw,vers=4.2\n"
    "91 27 0:53 / /mnt/a\\040b rw,relatime - fuse.sshfs me@host:/x rw,user_id=0\n";

TEST(MountInfo, FindsTheEntryOfADeviceWhateverOptionalFieldsItHas) {
  std::istringstream text(kMountInfo);
  const auto nfs = find_mount(text, 0, 52);
  ASSERT_TRUE(nfs);
  EXPECT_EQ(nfs->type, "nfs4");
  EXPECT_EQ(nfs->source, "server:/export");
  EXPECT_EQ(nfs->point, "/mnt/models");
  std::istringstream again(kMountInfo);
  EXPECT_EQ(find_mount(again, 0, 53)->type, "fuse.sshfs");
}

TEST(MountInfo, HasNoneForAnUnknownDevice) {
  std::istringstream text(kMountInfo);
  EXPECT_FALSE(find_mount(text, 8, 2));
}

}  // namespace
}  // namespace vouchfs::doctor
