// tree_cache.h: verified tree blocks kept in memory, so that each is read and hashed once; bounded, least recently used out.
// Layer:   core/verify (3). Uses base, hash, merkle.
// Why the bytes are kept and not a "verified" bit: the tree file is untrusted and may change after it was checked.
// Threads: safe for concurrent calls, guarded by mutex_; nobody reads or hashes while holding it.
// Cost:    a hit is one lock and one hash lookup; about 4.2 KiB a block. One tree block covers 512 KiB of file.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/units.h"

namespace vouchfs::verify {

using TreeBlock = std::array<std::uint8_t, kBlockBytes>;
using TreeBlockPtr = std::shared_ptr<const TreeBlock>;

class TreeCache {
 public:
  // Keeps at most `bytes` bytes of tree blocks, at least 16 blocks.
  explicit TreeCache(std::uint64_t bytes);
  // What holds the whole tree of `data_bytes` of files (a tree is 1/128 of its file), but at least 4 MiB and at most 64 MiB.
  static std::uint64_t usual_bytes(std::uint64_t data_bytes) noexcept;
  // Another bound from now on. Blocks beyond it go when the next one comes in.
  void resize(std::uint64_t bytes) noexcept { capacity_.store(blocks_of(bytes), std::memory_order_relaxed); }
  std::size_t capacity() const noexcept { return capacity_.load(std::memory_order_relaxed); }  // blocks
  // Null when it is not there.
  TreeBlockPtr find(std::uint64_t file_key, std::uint64_t tree_block);
  // Only verified blocks come in here.
  void insert(std::uint64_t file_key, std::uint64_t tree_block, TreeBlockPtr block);

 private:
  struct Key {
    std::uint64_t file;
    std::uint64_t block;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept { return static_cast<std::size_t>((key.file * 0x9E3779B97F4A7C15ULL) ^ (key.block * 0xC2B2AE3D27D4EB4FULL)); }
  };
  struct Entry {
    Key key;
    TreeBlockPtr block;
  };
  static std::size_t blocks_of(std::uint64_t bytes) noexcept;
  std::atomic<std::size_t> capacity_;  // blocks
  std::mutex mutex_;
  std::list<Entry> entries_;                                              // guarded by mutex_; most recent first
  std::unordered_map<Key, std::list<Entry>::iterator, KeyHash> index_;  // guarded by mutex_
};

}  // namespace vouchfs::verify
