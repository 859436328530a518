// One suite for every hash backend this machine has: the same answers as a plain SHA-256, whatever the count, the length, the place in memory and the company.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "hash/sha256.h"
#include "unit/base/oracle.h"
#include "unit/hash/plain_sha256.h"

namespace vouchfs::hash {
namespace {

std::shared_ptr<const Sha256Engine> make_engine(const std::string& name) { return name == "mb" ? make_multi_buffer_engine() : make_openssl_engine(); }

std::vector<std::string> backends_here() {
  std::vector<std::string> names = {"openssl"};
  if (make_multi_buffer_engine()) names.emplace_back("mb");
  return names;
}

std::vector<Digest> plainly(std::span<const std::uint8_t> data, std::size_t message_bytes, std::size_t count) {
  static const test::PlainSha256 plain;
  std::vector<Digest> digests;
  for (std::size_t i = 0; i < count; ++i) digests.push_back(plain(data.subspan(i * message_bytes, message_bytes)));
  return digests;
}

class EngineConformance : public testing::TestWithParam<std::string> {
 protected:
  std::vector<Digest> hash(std::span<const std::uint8_t> data, std::size_t message_bytes, std::size_t count) const {
    std::vector<Digest> out(count);
    engine_->hash_many(data.first(message_bytes * count), message_bytes, out);
    return out;
  }

  std::shared_ptr<const Sha256Engine> engine_ = make_engine(GetParam());
};

TEST_P(EngineConformance, TellsItsName) { EXPECT_EQ(engine_->name(), GetParam()); }

TEST_P(EngineConformance, PassesTheSelfTest) { EXPECT_TRUE(passes_self_test(*engine_)); }

TEST_P(EngineConformance, EveryCountOfBlocksIsRight) {
  constexpr std::size_t kMost = 300;  // past the 256 jobs that the multi-buffer library queues
  const std::vector<std::uint8_t> data = test::random_bytes(kMost * 4096, 1);
  const std::vector<Digest> expected = plainly(data, 4096, kMost);
  for (std::size_t count = 0; count <= kMost; ++count) {
    const std::vector<Digest> out = hash(data, 4096, count);
    ASSERT_TRUE(std::equal(out.begin(), out.end(), expected.begin())) << count << " blocks";
  }
}

TEST_P(EngineConformance, EveryLengthAroundThePaddingIsRight) {
  const std::vector<std::uint8_t> data = test::random_bytes(40 * 200, 2);
  for (std::size_t length = 0; length <= 200; ++length) ASSERT_EQ(hash(data, length, 40), plainly(data, length, 40)) << length << " bytes";
}

TEST_P(EngineConformance, LongMessagesAreRight) {
  const std::vector<std::uint8_t> data = test::random_bytes(20 * 100'000, 3);
  for (const std::size_t length : {4095U, 4097U, 8192U, 16384U, 32767U, 32768U, 32769U, 65535U, 65536U, 100'000U})
    ASSERT_EQ(hash(data, length, 20), plainly(data, length, 20)) << length << " bytes";
}

TEST_P(EngineConformance, MessagesNeedNoAlignment) {
  const std::vector<std::uint8_t> data = test::random_bytes(33 * 4096 + 64, 4);
  for (std::size_t shift = 0; shift < 64; shift += 7) {
    const auto shifted = std::span(data).subspan(shift);
    ASSERT_EQ(hash(shifted, 4096, 33), plainly(shifted, 4096, 33)) << "shifted by " << shift;
  }
}

TEST_P(EngineConformance, WritesNothingPastTheDigests) {
  const std::vector<std::uint8_t> data = test::random_bytes(20 * 4096, 5);
  Digest canary{};
  canary.fill(0xC3);
  for (std::size_t count = 0; count <= 20; ++count) {
    std::vector<Digest> out(22, canary);
    engine_->hash_many(std::span(data).first(count * 4096), 4096, std::span(out).subspan(1, count));
    EXPECT_EQ(out.front(), canary) << count;
    EXPECT_EQ(out[count + 1], canary) << count;
  }
}

// The byte after the last message is not ours to read: here it is on a page without any access.
TEST_P(EngineConformance, ReadsNothingPastTheMessages) {
  constexpr std::size_t kReadable = 32 * 4096;
  void* const map = ::mmap(nullptr, kReadable + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(map, MAP_FAILED);
  auto* const bytes = static_cast<std::uint8_t*>(map);
  ASSERT_EQ(::mprotect(bytes + kReadable, 4096, PROT_NONE), 0);
  for (const std::size_t length : {1U, 61U, 100U, 4096U}) {
    const std::span<const std::uint8_t> data(bytes + kReadable - 32 * length, 32 * length);
    EXPECT_EQ(hash(data, length, 32), plainly(data, length, 32)) << length << " bytes";
  }
  ::munmap(map, kReadable + 4096);
}

TEST_P(EngineConformance, ThreadsDoNotMixUpTheirAnswers) {
  constexpr std::size_t kThreads = 8;
  constexpr std::size_t kCalls = 200;
  std::atomic<std::size_t> wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<std::uint8_t> data = test::random_bytes(48 * 1024, 100 + t);
      const std::vector<Digest> expected = plainly(data, 1024, 48);
      for (std::size_t call = 0; call < kCalls; ++call) {
        const std::size_t count = 1 + (call * 7 + t) % 48;
        std::vector<Digest> out(count);
        engine_->hash_many(std::span(data).first(count * 1024), 1024, out);
        if (!std::equal(out.begin(), out.end(), expected.begin())) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0U);
}

INSTANTIATE_TEST_SUITE_P(Backends, EngineConformance, testing::ValuesIn(backends_here()), [](const auto& instance) { return instance.param; });

TEST(Backends, OpensslIsAlwaysCompiledIn) { EXPECT_EQ(compiled_backends().front(), "openssl"); }

// Guards the suite above: a backend that is built in and runs on this machine must have been in it.
TEST(Backends, MultiBufferIsThereExactlyWhereBuildAndProcessorHaveIt) {
  const std::vector<std::string> compiled = compiled_backends();
  bool expected = std::find(compiled.begin(), compiled.end(), "mb") != compiled.end();
#if defined(__x86_64__)
  expected = expected && __builtin_cpu_supports("sse4.2") != 0;
#endif
  EXPECT_EQ(make_multi_buffer_engine() != nullptr, expected);
}

}  // namespace
}  // namespace vouchfs::hash
