#include "ingest/pipeline.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "base/units.h"
#include "unit/base/oracle.h"

namespace vouchfs::ingest {
namespace {

using Bytes = std::span<const std::uint8_t>;
using test::random_bytes;

constexpr PipelineShape kSmall{3, kBlockBytes, 2};
constexpr std::size_t kTurns = 100;

ReadAt read_from(Bytes content) {
  return [content](std::uint64_t offset, std::span<std::uint8_t> dst) -> Result<std::size_t> {
    const std::size_t count = std::min(dst.size(), content.size() - std::min<std::size_t>(content.size(), offset));
    if (count != 0) std::memcpy(dst.data(), content.data() + offset, count);
    return count;
  };
}

Stage append_to(std::vector<std::uint8_t>& all) {
  return [&all](Bytes bytes) -> Status {
    all.insert(all.end(), bytes.begin(), bytes.end());
    return {};
  };
}

// What never ends, for the question whether a failure ends it.
Result<std::size_t> endless(std::uint64_t, std::span<std::uint8_t> dst) {
  std::memset(dst.data(), 1, dst.size());
  return dst.size();
}
Status take_any(Bytes) { return {}; }

class PipelineSizes : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PipelineSizes, EveryStageGetsAllBytesInOrder) {
  const auto content = random_bytes(GetParam(), 1);
  std::vector<std::uint8_t> first, second, third;
  const std::vector<Stage> stages{append_to(first), append_to(second), append_to(third)};
  ASSERT_TRUE(run_pipeline(read_from(content), stages, kSmall));
  EXPECT_EQ(first, content);
  EXPECT_EQ(second, content);
  EXPECT_EQ(third, content);
}

TEST_P(PipelineSizes, OneThreadDoesTheSame) {
  const auto content = random_bytes(GetParam(), 1);
  std::vector<std::uint8_t> first, second;
  const std::vector<Stage> stages{append_to(first), append_to(second)};
  ASSERT_TRUE(run_in_turn(read_from(content), stages, kBlockBytes));
  EXPECT_EQ(first, content);
  EXPECT_EQ(second, content);
}

// Around one buffer and the whole ring, and many times round it.
INSTANTIATE_TEST_SUITE_P(Bytes, PipelineSizes,
                         ::testing::Values(0U, 1U, kBlockBytes - 1, kBlockBytes, kBlockBytes + 1, 3 * kBlockBytes, 3 * kBlockBytes + 1, kTurns* kBlockBytes,
                                           kTurns* kBlockBytes + 77));

TEST(Pipeline, ReadsThatEndOutOfOrderStillComeInOrder) {
  const auto content = random_bytes(kTurns * kBlockBytes, 2);
  std::atomic<std::size_t> later{0};  // reads of odd turns so far
  // An even turn is read only when the odd one behind it was, by the other reader: the order is turned round for sure.
  const ReadAt read = [&](std::uint64_t offset, std::span<std::uint8_t> dst) {
    const std::uint64_t turn = offset / kBlockBytes;
    if (turn % 2 == 1) {
      ++later;
      later.notify_all();
    }
    if (turn < kTurns && turn % 2 == 0)
      for (std::size_t seen = later; seen <= turn / 2; seen = later) later.wait(seen);
    return read_from(content)(offset, dst);
  };
  std::vector<std::uint8_t> all;
  const std::vector<Stage> stages{append_to(all)};
  ASSERT_TRUE(run_pipeline(read, stages, kSmall));
  EXPECT_EQ(all, content);
}

TEST(Pipeline, ReadersAreNeverFurtherAheadOfTheSlowestStageThanTheRingIsLong) {
  std::atomic<std::uint64_t> slowest{0};
  std::atomic<std::uint64_t> most_ahead{0};
  const ReadAt read = [&](std::uint64_t offset, std::span<std::uint8_t> dst) {
    const std::uint64_t turn = offset / kBlockBytes;
    const std::uint64_t ahead = turn + 1 - std::min(turn + 1, slowest.load());
    for (std::uint64_t most = most_ahead; ahead > most && !most_ahead.compare_exchange_weak(most, ahead);) {
    }
    return turn < kTurns ? endless(offset, dst) : Result<std::size_t>(0);
  };
  const std::vector<Stage> stages{take_any, [&](Bytes) {
                                    std::this_thread::yield();
                                    ++slowest;
                                    return Status{};
                                  }};
  ASSERT_TRUE(run_pipeline(read, stages, kSmall));
  EXPECT_EQ(slowest, kTurns);
  // The count rises before the buffer is given back, so that it may seem one short.
  EXPECT_LE(most_ahead, kSmall.buffers);
  EXPECT_GE(most_ahead, 1U);
}

// Fails at the given turn in one place: 0 the reader, 1 and more the stages.
class PipelineFailing : public ::testing::TestWithParam<std::size_t> {
 protected:
  static constexpr int kAt = 7;
  ReadAt reader(const std::function<Status()>& trouble) const {
    return [trouble](std::uint64_t offset, std::span<std::uint8_t> dst) -> Result<std::size_t> {
      if (GetParam() == 0 && offset == kAt * kBlockBytes) VOUCHFS_TRY(trouble());
      return endless(offset, dst);
    };
  }
  std::vector<Stage> stages(const std::function<Status()>& trouble) const {
    std::vector<Stage> all(3, take_any);
    if (GetParam() != 0) all[GetParam() - 1] = [trouble, turn = 0](Bytes) mutable { return ++turn == kAt ? trouble() : Status{}; };
    return all;
  }
};

TEST_P(PipelineFailing, AnErrorEndsTheOthersAndIsTold) {
  const auto trouble = []() -> Status { return fail(ErrorCode::io, "worn out", "here"); };
  const Status done = run_pipeline(reader(trouble), stages(trouble), kSmall);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::io);
  EXPECT_EQ(done.error().message, "worn out");
}

TEST_P(PipelineFailing, AnExceptionEndsTheOthersAndReachesTheCaller) {
  const auto trouble = []() -> Status { throw std::runtime_error("worn out"); };
  EXPECT_THROW((void)run_pipeline(reader(trouble), stages(trouble), kSmall), std::runtime_error);
}

INSTANTIATE_TEST_SUITE_P(Place, PipelineFailing, ::testing::Values(0U, 1U, 2U, 3U));

TEST(Pipeline, AStageThatFailsEndsReadersThatWaitForRoom) {
  // The second stage takes nothing before the first has failed, so that the readers have filled the ring and wait.
  std::atomic<std::size_t> reads{0};
  const ReadAt read = [&](std::uint64_t offset, std::span<std::uint8_t> dst) {
    ++reads;
    reads.notify_all();
    return endless(offset, dst);
  };
  const std::vector<Stage> stages{[&](Bytes) -> Status {
    for (std::size_t seen = reads; seen < kSmall.buffers; seen = reads) reads.wait(seen);
    return fail(ErrorCode::io, "full");
  }};
  const Status done = run_pipeline(read, stages, kSmall);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "full");
  EXPECT_EQ(reads, kSmall.buffers);
}

TEST(Pipeline, AReaderThatIsCancelledEndsAll) {
  std::atomic<bool> cancelled{false};
  const ReadAt read = [&](std::uint64_t offset, std::span<std::uint8_t> dst) -> Result<std::size_t> {
    if (cancelled) return fail(ErrorCode::cancelled, "stopped on request");
    return endless(offset, dst);
  };
  std::size_t turns = 0;
  const std::vector<Stage> stages{take_any, [&](Bytes) {
                                    if (++turns == kTurns) cancelled = true;
                                    return Status{};
                                  }};
  const Status done = run_pipeline(read, stages, kSmall);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::cancelled);
}

// In a process of a user who may have no more threads; see StartThreads.
[[noreturn]] void run_where_no_thread_may_start() {
  constexpr uid_t kNobodyElse = 54321;
  const rlimit one = {1, 1};
  if (::setrlimit(RLIMIT_NPROC, &one) != 0) std::_Exit(2);
  if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setgid(kNobodyElse) != 0 || ::setuid(kNobodyElse) != 0)) std::_Exit(3);
  const auto content = random_bytes(kTurns * kBlockBytes + 77, 3);
  std::vector<std::uint8_t> first, second;
  const std::vector<Stage> stages{append_to(first), append_to(second)};
  const bool done = run_pipeline(read_from(content), stages, kSmall).has_value();
  std::_Exit(done && first == content && second == content ? 0 : 4);
}

TEST(Pipeline, WithoutThreadsTheWorkIsDoneInTurn) { EXPECT_EXIT(run_where_no_thread_may_start(), testing::ExitedWithCode(0), ""); }

}  // namespace
}  // namespace vouchfs::ingest
