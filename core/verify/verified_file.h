// verified_file.h: a source, a tree and a digest in; verified bytes out, or the exact blocks that are not right and why.
// Layer:   core/verify (3). Uses base, hash, observe, merkle, source. Knows no seal, no FUSE and no policy.
// Owns:    shares its sources, engine; borrows the TreeCache and the counters, which must outlive it.
// Threads: every method is safe for concurrent calls; no lock is held during I/O or hashing.
// Cost:    cold: data read once, each block hashed once, tree blocks as verified_tree.h says. Warm tree: no tree I/O.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "hash/sha256.h"
#include "merkle/geometry.h"
#include "observe/counters.h"
#include "source/block_source.h"
#include "verify/verified_tree.h"

namespace vouchfs::verify {

enum class BadKind {
  corrupt,       // bytes came and do not hash to the sealed leaf
  truncated,     // the source ends before or inside the block
  source_error,  // the source failed; sys_errno tells how
  tree,          // the data cannot be judged: the tree block above it is damaged, lost or unreadable
};

// One block that cannot be given to a reader.
struct BadBlock {
  std::uint64_t block = 0;
  BadKind kind = BadKind::corrupt;
  hash::Digest expected{};    // sealed leaf hash; for a file of one block its fs-verity digest; for kind tree the hash the tree block should have
  hash::Digest actual{};      // what came instead
  bool has_expected = false;  // false when no verified hash is known
  bool has_actual = false;    // false when nothing came that could be hashed
  int sys_errno = 0;
  std::uint64_t source_bytes = 0;  // kind truncated: where the source ends
  unsigned tree_level = 0;         // kind tree: 0 is the leaf level
  std::uint64_t tree_block = 0;    // kind tree: index in the tree file
  std::string detail;
};

struct RangeOutcome {
  std::vector<BadBlock> bad;              // sorted by block; every other block of the range is verified
  std::vector<std::uint64_t> transient;   // blocks that were wrong at first and right when read past the cache
  bool all_good() const noexcept { return bad.empty(); }
};

class VerifiedFile {
 public:
  // `tree` may be null for a file of at most one block. `key` names the file in the cache and is unique within it.
  VerifiedFile(std::uint64_t file_bytes, const hash::Digest& fsverity, std::shared_ptr<source::BlockSource> data, std::shared_ptr<source::BlockSource> tree,
               std::shared_ptr<const hash::Sha256Engine> engine, std::uint64_t key, TreeCache& cache, observe::Counters& counters);

  std::uint64_t bytes() const noexcept { return geometry_.file_bytes(); }
  source::BlockSource& source() const noexcept { return *data_; }

  // Fills dst with blocks [first, first + dst.size() / 4096), each verified, the last one of the file zero-padded.
  // Requires: dst aligned to and a multiple of 4096, the range within the file. Blocks listed as bad are zeroed in dst.
  // A block that does not match is read again past the cache before it is called bad.
  RangeOutcome read_blocks(std::uint64_t first, std::span<std::uint8_t> dst, source::Freshness freshness = source::Freshness::usual) const;

 private:
  void read_and_judge(std::uint64_t first, std::span<std::uint8_t> dst, source::Freshness freshness, std::vector<BadBlock>& bad) const;
  // Fetches data; blocks that do not come whole are appended to bad. A failing range is halved to find the blocks that fail.
  void fetch(std::uint64_t first, std::span<std::uint8_t> dst, source::Freshness freshness, std::vector<BadBlock>& bad) const;
  void note_short(std::uint64_t first, std::uint64_t count, std::size_t got, std::vector<BadBlock>& bad) const;
  // Hashes fetched blocks of one leaf tree block and appends those that do not fit; those in `unread` are passed over.
  void judge(std::uint64_t first, std::span<std::uint8_t> dst, bool in_order, std::span<const BadBlock> unread, std::vector<BadBlock>& bad) const;
  void judge_single_block(std::span<const std::uint8_t> dst, std::vector<BadBlock>& bad) const;

  merkle::Geometry geometry_;
  hash::Digest fsverity_;
  std::shared_ptr<source::BlockSource> data_;
  VerifiedTree tree_;
  std::shared_ptr<const hash::Sha256Engine> engine_;
  observe::Counters& counters_;
};

}  // namespace vouchfs::verify
