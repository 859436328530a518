#include "verify/read_ahead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <future>
#include <set>
#include <thread>

namespace vouchfs::verify {
namespace {

constexpr std::uint64_t kPiece = 128 * 1024;
constexpr std::uint64_t kFileBytes = (48ULL << 20) + 1234;

// What stands at a byte of the made-up file.
std::uint8_t byte_at(std::uint64_t offset) { return static_cast<std::uint8_t>((offset >> 12) * 31 + offset % 251); }

// A file whose fetches can be held up, made to fail and counted.
struct Readers {
  explicit Readers(ReadAhead::Limits limits = {.chunks = 16, .threads = 2}, std::vector<Extent> tensors = {})
      : ahead(limits), file(kFileBytes, std::move(tensors), [this](std::uint64_t first, std::span<std::uint8_t> dst) { return fetch(first, dst); }) {}
  ~Readers() {
    release();
    ahead.forget(file);
  }

  bool fetch(std::uint64_t first, std::span<std::uint8_t> dst) {
    ++fetches;
    std::unique_lock lock(mutex);
    begun.insert(first * kBlockBytes / ReadAhead::kChunkBytes);
    changed.notify_all();
    changed.wait(lock, [&] { return !held; });
    lock.unlock();
    for (std::size_t i = 0; i < dst.size(); ++i) dst[i] = byte_at(first * kBlockBytes + i);
    return first * kBlockBytes / ReadAhead::kChunkBytes != bad_chunk;
  }
  void hold() {
    const std::scoped_lock lock(mutex);
    held = true;
  }
  void release() {
    const std::scoped_lock lock(mutex);
    held = false;
    changed.notify_all();
  }
  void wait_until_begun(std::uint64_t chunk) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return begun.contains(chunk); });
  }

  // Reads a range; true when it was read ahead. Wrong bytes fail the test.
  bool read(std::uint64_t offset, std::size_t length) {
    const auto parts = ahead.read(file, offset, length);
    if (!parts) return false;
    std::uint64_t at = offset;
    for (std::size_t i = 0; i < parts->count; ++i)
      for (const std::uint8_t byte : parts->parts[i]) {
        if (byte != byte_at(at)) ADD_FAILURE() << "byte " << at << " is wrong";
        ++at;
      }
    EXPECT_EQ(at, offset + length);
    return true;
  }
  // Goes through a range in order; the number of pieces that were read ahead.
  unsigned stream(std::uint64_t from, std::uint64_t to) {
    unsigned ready = 0;
    for (std::uint64_t at = from; at < to; at += kPiece) ready += read(at, static_cast<std::size_t>(std::min(kPiece, to - at)));
    return ready;
  }

  std::atomic<unsigned> fetches{0};
  std::atomic<std::uint64_t> bad_chunk{~0ULL};
  std::mutex mutex;
  std::condition_variable changed;
  bool held = false;
  std::set<std::uint64_t> begun;
  ReadAhead ahead;
  ReadAhead::File file;
};

TEST(ReadAhead, AStreamIsReadAheadToTheLastByte) {
  Readers readers;
  const unsigned pieces = static_cast<unsigned>((kFileBytes + kPiece - 1) / kPiece);
  EXPECT_EQ(readers.stream(0, kFileBytes), pieces - 3);  // all but the three that made it a stream
  EXPECT_EQ(readers.fetches, 49U);
}

TEST(ReadAhead, ARequestOverTwoChunksHasTwoParts) {
  Readers readers;
  readers.stream(0, 4 * ReadAhead::kChunkBytes - kPiece / 2);
  const auto parts = readers.ahead.read(readers.file, 4 * ReadAhead::kChunkBytes - kPiece / 2, kPiece);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->count, 2U);
}

TEST(ReadAhead, LoneReadsFetchNothing) {
  Readers readers;
  for (std::uint64_t at = 0; at < 40; at += 2) EXPECT_FALSE(readers.read(at << 20, 4096));
  EXPECT_EQ(readers.fetches, 0U);
}

TEST(ReadAhead, AWrongChunkIsLeftToTheReader) {
  Readers readers;
  readers.bad_chunk = 5;
  readers.stream(0, 5 << 20);
  EXPECT_FALSE(readers.read(5 << 20, kPiece));
  EXPECT_EQ(readers.stream((5 << 20) + kPiece, 6 << 20), 0U);
  EXPECT_EQ(readers.stream(6 << 20, 8 << 20), 16U);  // what follows comes ahead as before
}

TEST(ReadAhead, AReaderIsNotHeldUpByTheChunkOfAnother) {
  Readers readers({.chunks = 16, .threads = 1});
  readers.stream(0, 3 * kPiece - kPiece);
  readers.hold();
  auto stuck = std::async(std::launch::async, [&] { readers.read(2 * kPiece, kPiece), readers.read(3 * kPiece, kPiece); });
  readers.wait_until_begun(0);
  EXPECT_FALSE(readers.read(30 << 20, kPiece));  // returns, though the only thread and the other reader are stuck
  readers.release();
  stuck.get();
}

TEST(ReadAhead, WhatNobodyHasBegunTheReaderFetchesItself) {
  Readers readers({.chunks = 16, .threads = 1});
  readers.stream(0, 4 << 20);
  readers.hold();
  auto stuck = std::async(std::launch::async, [&] { return readers.stream(4 << 20, 20 << 20); });
  // The one thread is stuck in one chunk; the reader, when it comes to the next that is not begun, goes on by itself once released.
  readers.release();
  EXPECT_EQ(stuck.get(), 128U);
}

TEST(ReadAhead, MemoryStaysWithinItsBound) {
  Readers readers({.chunks = 4, .threads = 2});
  for (std::uint64_t start : {0ULL, 10ULL, 20ULL, 30ULL}) readers.stream(start << 20, (start + 4) << 20);  // each leaves chunks behind that nobody wants
  EXPECT_GT(readers.stream(40 << 20, 44 << 20), 20U);                                                      // and the newest stream still gets room
}

TEST(ReadAhead, ForgettingWaitsForWhoeverIsInTheFile) {
  Readers readers;
  readers.hold();
  auto stuck = std::async(std::launch::async, [&] { readers.stream(0, 1 << 20); });
  readers.wait_until_begun(0);
  std::atomic<bool> forgotten{false};
  auto forgetting = std::async(std::launch::async, [&] {
    readers.ahead.forget(readers.file);
    forgotten = true;
  });
  EXPECT_FALSE(forgotten);
  readers.release();
  stuck.get();
  forgetting.get();
}

TEST(ReadAhead, ManyReadersGetTheRightBytes) {
  Readers readers({.chunks = 8, .threads = 3});
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 8; ++i)
    threads.emplace_back([&readers, i] {
      for (int round = 0; round < 3; ++round) readers.stream((i % 4) * (10ULL << 20), ((i % 4) * 10 + 9) << 20);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(ReadAhead, WithoutRoomForAChunkNothingIsFetched) {
  Readers readers({.chunks = 0, .threads = 1});
  EXPECT_EQ(readers.stream(0, 8 << 20), 0U);
  EXPECT_EQ(readers.fetches, 0U);
}

}  // namespace
}  // namespace vouchfs::verify
