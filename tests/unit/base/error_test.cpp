#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <set>

#include "base/result.h"

namespace vouchfs {
namespace {

TEST(ErrorCode, EveryCodeHasAWordOfItsOwn) {
  std::set<std::string> words;
  int codes = 0;
  for (int code = static_cast<int>(ErrorCode::other); code <= static_cast<int>(ErrorCode::internal); ++code, ++codes)
    words.insert(to_string(static_cast<ErrorCode>(code)));
  EXPECT_EQ(words.size(), static_cast<std::size_t>(codes));
  EXPECT_TRUE(words.count("bad_format"));
}

TEST(Error, TellsFileMessagePlaceCauseAndAdviceInOneLine) {
  Error error = errno_error(EACCES, "cannot read", "shard.safetensors", "make it readable");
  error.where.offset = 4096;
  error.where.length = 100;
  EXPECT_EQ(error.describe(), "shard.safetensors: cannot read (at byte 4096, 100 bytes): Permission denied; make it readable");
}

TEST(Error, LeavesOutWhatIsNotKnown) { EXPECT_EQ(make_error(ErrorCode::other, "went wrong").describe(), "went wrong"); }

TEST(Error, ContextGoesInFrontAndKeepsTheRest) {
  const Error error = errno_error(EIO, "cannot read", "f", "look").with("while sealing");
  EXPECT_EQ(error.message, "while sealing: cannot read");
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_EQ(error.where.file, "f");
  EXPECT_EQ(error.sys_errno, EIO);
}

TEST(ErrnoError, AbsentThingsAreNotFoundAndTheRestIsIo) {
  EXPECT_EQ(errno_error(ENOENT, "m").code, ErrorCode::not_found);
  EXPECT_EQ(errno_error(ENOTDIR, "m").code, ErrorCode::not_found);
  for (const int other : {EIO, EACCES, ENOSPC, ELOOP}) EXPECT_EQ(errno_error(other, "m").code, ErrorCode::io) << other;
}

Result<int> twice(Result<int> input) {
  VOUCHFS_ASSIGN(const int value, std::move(input));
  return 2 * value;
}

Status passes_on(Status status, bool& went_on) {
  VOUCHFS_TRY(std::move(status));
  went_on = true;
  return {};
}

TEST(Result, AssignGivesTheValueOrReturnsTheError) {
  EXPECT_EQ(twice(21), 42);
  const Result<int> failed = twice(fail(ErrorCode::busy, "later"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "later");
}

TEST(Result, AssignMovesValuesThatCannotBeCopied) {
  const auto take = [](Result<std::unique_ptr<int>> input) -> Result<int> {
    VOUCHFS_ASSIGN(const std::unique_ptr<int> value, std::move(input));
    return *value;
  };
  EXPECT_EQ(take(std::make_unique<int>(5)), 5);
}

TEST(Result, TryStopsAtTheFirstError) {
  bool went_on = false;
  EXPECT_TRUE(passes_on({}, went_on));
  EXPECT_TRUE(went_on);
  went_on = false;
  const Status failed = passes_on(fail(ErrorCode::io, "no"), went_on);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::io);
  EXPECT_FALSE(went_on);
}

}  // namespace
}  // namespace vouchfs
