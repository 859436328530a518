// salted_tree.h: the root hash of a file for any parameters fs-verity knows; no tree is kept. Plain and slow: it exists for
// comparison with digests made elsewhere, the seal format has its own builder (tree_builder.h).
// Layer:   core/merkle (2). Internal to digest_file.cpp.
// Threads: one thread a tree.
// Cost:    one OpenSSL hash a block; memory: one block a level.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "merkle/digest_file.h"

namespace vouchfs::merkle {

class SaltedTree {
 public:
  // Requires parameters that were checked.
  SaltedTree(std::uint64_t file_bytes, const Parameters& parameters);
  ~SaltedTree();
  // The next bytes of the file, any amount, not past its announced end.
  void append(std::span<const std::uint8_t> bytes);
  // The fs-verity digest, after the last byte.
  std::vector<std::uint8_t> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vouchfs::merkle
