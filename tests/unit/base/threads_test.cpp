#include "base/threads.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <string>

namespace vouchfs {
namespace {

TEST(StartThreads, AllRunTheWork) {
  std::atomic<int> runs{0};
  const std::function<void()> work = [&] { ++runs; };
  std::vector<std::thread> threads = start_threads(5, work);
  EXPECT_EQ(threads.size(), 5U);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(runs, 5);
  EXPECT_TRUE(start_threads(0, work).empty());
}

// A lambda becomes a function that lives as long as the call; threads may begin later.
TEST(StartThreads, TheFunctionNeedNotOutliveTheCall) {
  std::promise<void> begin;
  const std::shared_future<void> gate = begin.get_future().share();
  std::atomic<std::size_t> seen{0};
  std::vector<std::thread> threads = start_threads(20, [&seen, gate, text = std::string(100, 'x')] {
    gate.wait();
    seen += text.size();
  });
  begin.set_value();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen, 100 * threads.size());
}

// In a process of a user who may have no more of them: root's own are not counted, so it becomes somebody without any other.
[[noreturn]] void start_where_none_may_start() {
  constexpr uid_t kNobodyElse = 54321;
  const rlimit one = {1, 1};
  if (::setrlimit(RLIMIT_NPROC, &one) != 0) std::_Exit(2);
  if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setgid(kNobodyElse) != 0 || ::setuid(kNobodyElse) != 0)) std::_Exit(3);
  const std::function<void()> work = [] {};
  std::_Exit(start_threads(8, work).empty() ? 0 : 4);
}

TEST(StartThreads, ThoseThatTheSystemRefusesAreLeftOutAndEndNothing) { EXPECT_EXIT(start_where_none_may_start(), testing::ExitedWithCode(0), ""); }

}  // namespace
}  // namespace vouchfs
