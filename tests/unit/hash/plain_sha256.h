// plain_sha256.h: SHA-256 written from FIPS 180-4 in the plainest way: the oracle of the hash backends, sharing no code with them.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace vouchfs::test {

// First 32 bits of the fractional part of a root: FIPS 180-4 defines its constants so, and long double holds them exactly enough.
inline std::uint32_t fraction_bits(long double root) { return static_cast<std::uint32_t>((root - std::floor(root)) * 4294967296.0L); }

inline std::vector<int> first_primes(std::size_t count) {
  std::vector<int> primes;
  for (int candidate = 2; primes.size() < count; ++candidate) {
    bool prime = true;
    for (const int p : primes) prime = prime && candidate % p != 0;
    if (prime) primes.push_back(candidate);
  }
  return primes;
}

struct PlainSha256 {
  std::array<std::uint32_t, 64> k{};
  std::array<std::uint32_t, 8> start{};

  PlainSha256() {
    const std::vector<int> primes = first_primes(64);
    for (std::size_t i = 0; i < 64; ++i) k[i] = fraction_bits(std::cbrt(static_cast<long double>(primes[i])));
    for (std::size_t i = 0; i < 8; ++i) start[i] = fraction_bits(std::sqrt(static_cast<long double>(primes[i])));
  }

  void compress(std::array<std::uint32_t, 8>& h, const std::uint8_t* chunk) const {
    const auto sigma = [](std::uint32_t x, int a, int b, std::uint32_t last) { return std::rotr(x, a) ^ std::rotr(x, b) ^ last; };
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 16; ++i)
      w[i] = static_cast<std::uint32_t>(chunk[4 * i]) << 24 | static_cast<std::uint32_t>(chunk[4 * i + 1]) << 16 |
             static_cast<std::uint32_t>(chunk[4 * i + 2]) << 8 | chunk[4 * i + 3];
    for (std::size_t i = 16; i < 64; ++i) w[i] = sigma(w[i - 2], 17, 19, w[i - 2] >> 10) + w[i - 7] + sigma(w[i - 15], 7, 18, w[i - 15] >> 3) + w[i - 16];
    auto s = h;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
      const std::uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
      const std::uint32_t t1 = s[7] + sigma(s[4], 6, 11, std::rotr(s[4], 25)) + choice + k[i] + w[i];
      const std::uint32_t t2 = sigma(s[0], 2, 13, std::rotr(s[0], 22)) + majority;
      s = {t1 + t2, s[0], s[1], s[2], s[3] + t1, s[4], s[5], s[6]};
    }
    for (std::size_t i = 0; i < 8; ++i) h[i] += s[i];
  }

  std::array<std::uint8_t, 32> operator()(std::span<const std::uint8_t> message) const {
    std::vector<std::uint8_t> padded(message.begin(), message.end());
    padded.push_back(0x80);
    while (padded.size() % 64 != 56) padded.push_back(0);
    for (int shift = 56; shift >= 0; shift -= 8) padded.push_back(static_cast<std::uint8_t>(message.size() * 8 >> shift));
    auto h = start;
    for (std::size_t at = 0; at < padded.size(); at += 64) compress(h, padded.data() + at);
    std::array<std::uint8_t, 32> digest{};
    for (std::size_t i = 0; i < 32; ++i) digest[i] = static_cast<std::uint8_t>(h[i / 4] >> (24 - 8 * (i % 4)));
    return digest;
  }
};

}  // namespace vouchfs::test
