#include <algorithm>
#include <array>
#include <vector>

#include "base/units.h"
#include "hash/sha256.h"

namespace vouchfs::hash {
namespace {

constexpr std::size_t kMaxCount = 64;
constexpr std::uint8_t kCanary = 0xA5;

// Messages that all differ, so that answers in the wrong order are wrong answers.
std::vector<std::uint8_t> known_messages(std::size_t bytes) {
  std::vector<std::uint8_t> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::uint8_t>((i % 251) ^ (i / 4096 * 37) ^ (i >> 3));
  return data;
}

// FIPS 180-4 examples: "abc", and the two-block message.
bool knows_fips_examples(const Sha256Engine& engine) {
  constexpr std::string_view abc = "abc";
  constexpr std::string_view two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  const auto gives = [&](std::string_view text, std::string_view hex) {
    std::array<Digest, 1> out{};
    engine.hash_many({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, text.size(), out);
    return to_hex(out[0]) == hex;
  };
  return gives(abc, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") &&
         gives(two_blocks, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

// Every count of messages from 0 to 64 gives the answers of OpenSSL and nothing is written past them.
bool agrees_at_every_count(const Sha256Engine& engine, std::size_t message_bytes) {
  const std::vector<std::uint8_t> data = known_messages(kMaxCount * message_bytes);
  const std::span<const std::uint8_t> messages(data);
  std::vector<Digest> expected(kMaxCount);
  make_openssl_engine()->hash_many(messages, message_bytes, expected);
  Digest canary{};
  canary.fill(kCanary);
  std::vector<Digest> out(kMaxCount + 1);
  for (std::size_t count = 0; count <= kMaxCount; ++count) {
    std::fill(out.begin(), out.end(), canary);
    engine.hash_many(messages.first(count * message_bytes), message_bytes, std::span(out).first(count));
    if (!std::equal(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count), expected.begin()) || out[count] != canary) return false;
  }
  return true;
}

}  // namespace

bool passes_self_test(const Sha256Engine& engine) {
  return knows_fips_examples(engine) && agrees_at_every_count(engine, kBlockBytes) && agrees_at_every_count(engine, 100);
}

}  // namespace vouchfs::hash
