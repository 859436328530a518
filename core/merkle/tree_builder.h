// tree_builder.h: builds the Merkle tree of one file from its bytes, in order, in one pass.
// Layer:   core/merkle (2). Pure computation: bytes come by append(), tree blocks leave by a sink.
// Threads: one thread a builder.
// Cost:    every byte is hashed once; memory: one block a level, and one batch of leaf hashes.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "hash/sha256.h"
#include "merkle/geometry.h"

namespace vouchfs::merkle {

struct BuiltTree {
  hash::Digest root{};
  hash::Digest digest{};  // the fs-verity digest of the file
};

// Takes one full tree block (4096 bytes) and its index in the tree file. Blocks of different levels come interleaved.
using TreeSink = std::function<Status(std::uint64_t tree_block, std::span<const std::uint8_t> bytes)>;

class TreeBuilder {
 public:
  // For a file of exactly file_bytes bytes. sink may be empty when only the digest is wanted.
  TreeBuilder(std::uint64_t file_bytes, std::shared_ptr<const hash::Sha256Engine> engine, TreeSink sink);
  ~TreeBuilder();
  // The next bytes of the file, any amount. Fastest in multiples of a block, 128 blocks and more at a time.
  // Fails: changed, when more than file_bytes are given; whatever the sink fails with.
  Status append(std::span<const std::uint8_t> bytes);
  // After the last byte. Fails: changed, when fewer bytes were given than announced.
  Result<BuiltTree> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vouchfs::merkle
