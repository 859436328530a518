// descriptor.h: from root hash and size to the fs-verity digest of a file.
// Layer:  core/merkle (2).
// Format: struct fsverity_descriptor of include/uapi/linux/fsverity.h: 256 bytes, little-endian; reserved fields zero.
#pragma once

#include "hash/digest.h"

namespace vouchfs::merkle {

// fs-verity digest (SHA-256, 4096-byte blocks, no salt) of a file with this root hash and this exact length.
// The root of an empty file is 32 zero bytes; of a file of at most one block, the hash of that block padded with zeros.
hash::Digest file_digest(const hash::Digest& root, std::uint64_t file_bytes);

}  // namespace vouchfs::merkle
