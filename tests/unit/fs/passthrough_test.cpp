// The words of the kernel's protocol that a mount with --pin changes. That the kernel takes them, the mount tests show.
#include "fs/passthrough.h"

#include <gtest/gtest.h>
#include <linux/fuse.h>

#include <cstring>

namespace vouchfs::fs {
namespace {

constexpr std::uint32_t kInitExt = 1U << 30;
constexpr std::uint32_t kPassthrough = 1U << 5;  // of the second word

std::vector<std::uint8_t> request(std::uint32_t flags, std::uint32_t flags2) {
  const std::uint32_t words[] = {7, 40, 0, flags, flags2};
  std::vector<std::uint8_t> out(sizeof(fuse_in_header));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(words);
  out.insert(out.end(), bytes, bytes + sizeof words);
  out.resize(out.size() + 44);
  return out;
}

std::uint32_t word(const std::vector<std::uint8_t>& bytes, std::size_t index) {
  std::uint32_t out = 0;
  std::memcpy(&out, bytes.data() + 4 * index, 4);
  return out;
}

TEST(PassthroughTest, IsOfferedOnlyByBothBits) {
  EXPECT_TRUE(offers_passthrough(request(kInitExt, kPassthrough)));
  EXPECT_TRUE(offers_passthrough(request(~0U, ~0U)));
  EXPECT_FALSE(offers_passthrough(request(~kInitExt, ~0U)));
  EXPECT_FALSE(offers_passthrough(request(~0U, ~kPassthrough)));
  EXPECT_FALSE(offers_passthrough({}));
  auto old = request(kInitExt, kPassthrough);
  old.resize(sizeof(fuse_in_header) + 16);  // a kernel before 5.17 sends no second word
  EXPECT_FALSE(offers_passthrough(old));
}

TEST(PassthroughTest, TheReplyKeepsWhatItSaysAndAddsBothBitsAndADepthOfOne) {
  fuse_init_out plain{};
  plain.major = 7;
  plain.minor = 38;
  plain.flags = FUSE_PARALLEL_DIROPS;
  plain.max_write = 1U << 20;
  plain.flags2 = 8;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&plain);
  std::vector<std::uint8_t> reply(bytes, bytes + sizeof plain);
  accept_passthrough(reply);
  EXPECT_EQ(word(reply, 3), FUSE_PARALLEL_DIROPS | kInitExt);
  EXPECT_EQ(word(reply, 8), 8U | kPassthrough);
  EXPECT_EQ(word(reply, 9), 1U);
  for (const std::size_t index : {0U, 1U, 2U, 4U, 5U, 6U, 7U, 10U, 15U}) {
    std::uint32_t was = 0;
    std::memcpy(&was, bytes + 4 * index, 4);
    EXPECT_EQ(word(reply, index), was) << index;
  }
}

TEST(PassthroughTest, AShortReplyOfAnOldProtocolIsLeftAlone) {
  std::vector<std::uint8_t> reply(24, 7);
  const auto before = reply;
  accept_passthrough(reply);
  EXPECT_EQ(reply, before);
}

TEST(PassthroughTest, WhatIsNoFuseDeviceIsAnError) { EXPECT_NE(try_passthrough(0 /* whatever it is */).has_value(), true); }

}  // namespace
}  // namespace vouchfs::fs
