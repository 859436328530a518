// pattern.h: the bytes fsverity-utils' published vectors are made of, and whole digests of bytes in memory.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "merkle/digest_file.h"

namespace vouchfs::test {

// Byte i is (i mod 11 + i mod 439 + i mod 1103) mod 256 (fsverity-utils, programs/test_compute_digest.c).
inline std::vector<std::uint8_t> pattern(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i % 11 + i % 439 + i % 1103);
  return bytes;
}

// Reads bytes in memory in pieces of at most `piece`.
inline merkle::ByteReader reader_of(std::span<const std::uint8_t> bytes, std::size_t piece = SIZE_MAX) {
  return [bytes, piece, at = std::size_t{0}](std::span<std::uint8_t> out) mutable -> Result<std::size_t> {
    const std::size_t count = std::min({out.size(), bytes.size() - at, piece});
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, out.begin());
    at += count;
    return count;
  };
}

// "alg:hex", or the error in words.
inline std::string digest_of(std::span<const std::uint8_t> bytes, const merkle::Parameters& parameters = {}) {
  const Result<std::string> digest = merkle::digest_stream(bytes.size(), parameters, reader_of(bytes), hash::choose_engine(std::nullopt).engine);
  return digest ? *digest : digest.error().describe();
}

inline std::vector<std::uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

}  // namespace vouchfs::test
