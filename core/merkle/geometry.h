// geometry.h: where the hash of every block of a file lies in its fs-verity Merkle tree.
// Layer:   core/merkle (2). Pure arithmetic, no I/O.
// Format:  Linux Documentation/filesystems/fsverity.rst: levels root first, leaf level last, within a level in order;
//          every tree block is full size, the last of a level padded with zero bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "hash/digest.h"

namespace vouchfs::merkle {

// Hashes in one tree block of format version 1: 4096 / 32.
inline constexpr std::uint64_t kArity = kBlockBytes / hash::kDigestBytes;

class Geometry {
 public:
  // For a file of file_bytes bytes; any block size 2^n >= 2 * digest_bytes. Defaults are those of the seal format.
  explicit Geometry(std::uint64_t file_bytes, std::uint64_t block_bytes = kBlockBytes, std::uint64_t digest_bytes = hash::kDigestBytes);

  std::uint64_t file_bytes() const noexcept { return file_bytes_; }
  std::uint64_t block_bytes() const noexcept { return block_bytes_; }
  std::uint64_t arity() const noexcept { return arity_; }
  std::uint64_t data_blocks() const noexcept { return data_blocks_; }
  // Levels of tree blocks; level 0 holds the hashes of data blocks, level levels() - 1 is the root block.
  // 0 when the file has at most one block: then there is no tree.
  std::size_t levels() const noexcept { return blocks_.size(); }
  std::uint64_t blocks_at(std::size_t level) const { return blocks_.at(level); }
  // Index, in the tree file, of the first tree block of a level.
  std::uint64_t start_of(std::size_t level) const { return start_.at(level); }
  std::uint64_t tree_blocks() const noexcept { return tree_blocks_; }
  std::uint64_t tree_bytes() const noexcept { return tree_blocks_ * block_bytes_; }

 private:
  std::uint64_t file_bytes_;
  std::uint64_t block_bytes_;
  std::uint64_t arity_;
  std::uint64_t data_blocks_;
  std::uint64_t tree_blocks_ = 0;
  std::vector<std::uint64_t> blocks_;  // by level, leaf level first
  std::vector<std::uint64_t> start_;   // by level, leaf level first
};

}  // namespace vouchfs::merkle
