// verified_tree.h: the Merkle tree of one file, from an untrusted source: gives tree blocks that are verified up to the file's digest.
// Layer:   core/verify (3). Uses base, hash, observe, merkle, source.
// Owns:    shares its source and engine; borrows the TreeCache and the counters, which must outlive it.
// Threads: every method is safe for concurrent calls; no lock is held during I/O or hashing.
// Cost:    a known block: one lookup. An unknown one: one read of 4 KiB a level that is not known. Where many leaves will be wanted,
//          32 of one parent are read and hashed at once: a read of 128 KiB costs little more than one of 4 KiB.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "hash/sha256.h"
#include "merkle/geometry.h"
#include "observe/counters.h"
#include "source/block_source.h"
#include "verify/tree_cache.h"

namespace vouchfs::verify {

// A tree block that cannot be had, and why.
struct BadTreeBlock {
  unsigned level = 0;       // 0 is the leaf level
  std::uint64_t block = 0;  // index in the tree file
  hash::Digest expected{};  // the hash its parent holds
  hash::Digest actual{};
  bool has_expected = false;  // false for the root, which is checked against the file's digest
  bool has_actual = false;    // false when nothing came that could be hashed
  int sys_errno = 0;
  std::string detail;
};

class VerifiedTree {
 public:
  static constexpr std::uint64_t kRunBlocks = 32;   // leaves read at once; divides the arity
  static constexpr std::uint32_t kLoneMisses = 16;  // so many leaves are read alone before random readers are taken to want them all
  using Found = tl::expected<TreeBlockPtr, BadTreeBlock>;

  // `source` may be null for a file of at most one block. `key` names the file in the cache and is unique within it.
  VerifiedTree(const merkle::Geometry& geometry, const hash::Digest& fsverity, std::shared_ptr<source::BlockSource> source,
               std::shared_ptr<const hash::Sha256Engine> engine, std::uint64_t key, TreeCache& cache, observe::Counters& counters);

  // The block with the hashes of data blocks [128 * index, 128 * (index + 1)). in_order: the reader will want the next ones too.
  Found leaf(std::uint64_t index, bool in_order) const;

 private:
  // Verified content of a tree block, from the cache or climbed to.
  Found block(std::size_t level, std::uint64_t index, bool in_order) const;
  // Reads one tree block and checks it against the hash its parent holds, or, at the root, against the file's digest.
  Found fetch(std::size_t level, std::uint64_t index, const hash::Digest* expected, source::Freshness freshness) const;
  // Reads the run of leaves around `index`, keeps those that are right, and gives the wanted one; null when that is not right.
  TreeBlockPtr fetch_run(std::uint64_t index, const TreeBlock& parent) const;
  bool run_pays(bool in_order) const;

  const merkle::Geometry geometry_;
  const hash::Digest fsverity_;
  const std::shared_ptr<source::BlockSource> source_;
  const std::shared_ptr<const hash::Sha256Engine> engine_;
  const std::uint64_t key_;
  TreeCache& cache_;
  observe::Counters& counters_;
  mutable std::atomic<std::uint32_t> lone_misses_{0};
};

// The hash in a slot of a tree block.
hash::Digest digest_at(const TreeBlock& block, std::uint64_t slot);

}  // namespace vouchfs::verify
