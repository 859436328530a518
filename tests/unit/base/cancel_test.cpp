#include "base/cancel.h"

#include <gtest/gtest.h>

namespace vouchfs {
namespace {

TEST(CancelFlag, IsQuietUntilRequested) {
  const CancelFlag flag;
  EXPECT_FALSE(flag.requested());
  EXPECT_TRUE(flag.check());
}

TEST(CancelFlag, FailsAsCancelledFromThenOn) {
  CancelFlag flag;
  flag.request();
  EXPECT_TRUE(flag.requested());
  for (int round = 0; round < 2; ++round) {
    const Status status = flag.check();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::cancelled);
  }
}

}  // namespace
}  // namespace vouchfs
