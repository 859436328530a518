// descriptor.h: from root hash and size to the fs-verity digest of a file.
// Layer:  core/merkle (2).
// Format: struct fsverity_descriptor of include/uapi/linux/fsverity.h: 256 bytes, little-endian; reserved fields zero.
#pragma once

#include <array>
#include <span>

#include "hash/digest.h"

namespace vouchfs::merkle {

// The hash_algorithm field: FS_VERITY_HASH_ALG_SHA256 and _SHA512 of the same header.
inline constexpr std::uint8_t kAlgorithmSha256 = 1;
inline constexpr std::uint8_t kAlgorithmSha512 = 2;
inline constexpr std::size_t kDescriptorBytes = 256;
inline constexpr std::size_t kMaxSaltBytes = 32;

struct Descriptor {
  std::uint8_t algorithm = kAlgorithmSha256;
  std::uint8_t log_block_bytes = 12;  // log2 of the block size
  std::uint64_t file_bytes = 0;
  std::span<const std::uint8_t> root;  // 32 or 64 bytes
  std::span<const std::uint8_t> salt;  // at most kMaxSaltBytes, as given, not as padded for hashing
};

// The bytes whose hash, without any salt, is the fs-verity digest. Requires root and salt within their fields.
std::array<std::uint8_t, kDescriptorBytes> descriptor_bytes(const Descriptor& descriptor);

// fs-verity digest (SHA-256, 4096-byte blocks, no salt) of a file with this root hash and this exact length.
// The root of an empty file is 32 zero bytes; of a file of at most one block, the hash of that block padded with zeros.
hash::Digest file_digest(const hash::Digest& root, std::uint64_t file_bytes);

}  // namespace vouchfs::merkle
