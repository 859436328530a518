// units.h: the block, and arithmetic on blocks and bytes that cannot overflow.
// Layer: core/base (0).
#pragma once

#include <cstddef>
#include <cstdint>

namespace vouchfs {

// The unit of hashing and of EIO: 4096 bytes of one file (DESIGN: seal format version 1; fs-verity's usual block).
inline constexpr std::size_t kBlockBytes = 4096;

// Blocks needed for this many bytes, rounding up.
constexpr std::uint64_t blocks_for(std::uint64_t bytes) noexcept {
  return bytes / kBlockBytes + (bytes % kBlockBytes != 0 ? 1 : 0);
}

// Bytes of block `block` that belong to a file of `file_bytes` bytes; 0 past the end.
constexpr std::size_t bytes_in_block(std::uint64_t file_bytes, std::uint64_t block) noexcept {
  if (block >= blocks_for(file_bytes)) return 0;
  const std::uint64_t left = file_bytes - block * kBlockBytes;
  return left < kBlockBytes ? static_cast<std::size_t>(left) : kBlockBytes;
}

}  // namespace vouchfs
