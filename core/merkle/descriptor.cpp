#include "merkle/descriptor.h"

#include <algorithm>

#include "hash/sha256.h"

namespace vouchfs::merkle {
namespace {

// Offsets of struct fsverity_descriptor (include/uapi/linux/fsverity.h).
constexpr std::size_t kVersionAt = 0;
constexpr std::size_t kAlgorithmAt = 1;
constexpr std::size_t kLogBlockAt = 2;
constexpr std::size_t kSaltSizeAt = 3;
constexpr std::size_t kFileBytesAt = 8;
constexpr std::size_t kRootAt = 16;
constexpr std::size_t kRootField = 64;
constexpr std::size_t kSaltAt = 80;

}  // namespace

std::array<std::uint8_t, kDescriptorBytes> descriptor_bytes(const Descriptor& descriptor) {
  std::array<std::uint8_t, kDescriptorBytes> bytes{};
  bytes[kVersionAt] = 1;
  bytes[kAlgorithmAt] = descriptor.algorithm;
  bytes[kLogBlockAt] = descriptor.log_block_bytes;
  bytes[kSaltSizeAt] = static_cast<std::uint8_t>(descriptor.salt.size());
  for (std::size_t i = 0; i < 8; ++i) bytes[kFileBytesAt + i] = static_cast<std::uint8_t>(descriptor.file_bytes >> (8 * i));
  std::copy_n(descriptor.root.begin(), std::min(descriptor.root.size(), kRootField), bytes.begin() + kRootAt);
  std::copy_n(descriptor.salt.begin(), std::min(descriptor.salt.size(), kMaxSaltBytes), bytes.begin() + kSaltAt);
  return bytes;
}

hash::Digest file_digest(const hash::Digest& root, std::uint64_t file_bytes) {
  Descriptor descriptor;
  descriptor.file_bytes = file_bytes;
  descriptor.root = root;
  return hash::sha256(std::span<const std::uint8_t>(descriptor_bytes(descriptor)));
}

}  // namespace vouchfs::merkle
