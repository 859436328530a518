#include "base/aligned_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/units.h"

namespace vouchfs {
namespace {

bool aligned(const AlignedBuffer& buffer) { return reinterpret_cast<std::uintptr_t>(buffer.data()) % kBlockBytes == 0; }

TEST(AlignedBuffer, StartsOnABlockAndHoldsWholeBlocks) {
  for (const std::size_t bytes : {0U, 1U, 4095U, 4096U, 4097U, 1U << 20}) {
    AlignedBuffer buffer(bytes);
    ASSERT_NE(buffer.data(), nullptr);
    EXPECT_TRUE(aligned(buffer)) << bytes;
    EXPECT_GE(buffer.size(), bytes);
    EXPECT_EQ(buffer.size() % kBlockBytes, 0U) << bytes;
    std::fill(buffer.span().begin(), buffer.span().end(), std::uint8_t{1});
  }
}

TEST(AlignedBuffer, MovingHandsTheMemoryOn) {
  AlignedBuffer first(4096);
  const std::uint8_t* const memory = first.data();
  const AlignedBuffer second = std::move(first);
  EXPECT_EQ(second.data(), memory);
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move): that is what is tested
}

TEST(BufferPool, HandsAReturnedBufferOutAgain) {
  BufferPool pool(8192, 2);
  const std::uint8_t* memory = nullptr;
  {
    auto lease = pool.lease(8192);
    memory = lease->data();
  }
  EXPECT_EQ(pool.lease(1)->data(), memory);
}

TEST(BufferPool, TwoLeasesAreTwoBuffers) {
  BufferPool pool(4096, 2);
  auto first = pool.lease(4096);
  auto second = pool.lease(4096);
  EXPECT_NE(first->data(), second->data());
}

TEST(BufferPool, ALeaseIsAtLeastAsLargeAsAsked) {
  BufferPool pool(8192, 1);
  for (const std::size_t bytes : {1U, 8192U, 8193U, 1U << 20}) {
    auto lease = pool.lease(bytes);
    EXPECT_GE(lease->size(), bytes);
    EXPECT_TRUE(aligned(*lease));
  }
}

// A request past the pool's size must not leave its large buffer behind for every small request.
TEST(BufferPool, LargerBuffersAreNotKept) {
  BufferPool pool(4096, 4);
  { auto large = pool.lease(1 << 20); }
  EXPECT_EQ(pool.lease(4096)->size(), 4096U);
}

TEST(BufferPool, AMovedLeaseGivesItsBufferBackOnce) {
  BufferPool pool(4096, 4);
  {
    auto first = pool.lease(4096);
    auto second = std::move(first);
    EXPECT_NE(second->data(), nullptr);
  }
  auto one = pool.lease(4096);
  auto two = pool.lease(4096);
  EXPECT_NE(one->data(), two->data());
}

TEST(BufferPool, ThreadsNeverShareABuffer) {
  BufferPool pool(4096, 3);
  std::atomic<int> clashes{0};
  std::vector<std::thread> threads;
  for (std::uint8_t id = 1; id <= 6; ++id) {
    threads.emplace_back([&, id] {
      for (int round = 0; round < 500; ++round) {
        auto lease = pool.lease(4096);
        std::fill_n(lease->data(), 4096, id);
        if (std::count(lease->data(), lease->data() + 4096, id) != 4096) ++clashes;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clashes, 0);
}

}  // namespace
}  // namespace vouchfs
