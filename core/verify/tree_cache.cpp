#include "verify/tree_cache.h"

#include <algorithm>

namespace vouchfs::verify {
namespace {

constexpr std::uint64_t kFewestBlocks = 16;
constexpr std::uint64_t kBytesOfDataForOneOfTree = 128;
constexpr std::uint64_t kUsualLeast = 4ULL << 20;
constexpr std::uint64_t kUsualMost = 64ULL << 20;

}  // namespace

TreeCache::TreeCache(std::uint64_t bytes) : capacity_(blocks_of(bytes)) {}

std::uint64_t TreeCache::usual_bytes(std::uint64_t data_bytes) noexcept { return std::clamp(data_bytes / kBytesOfDataForOneOfTree, kUsualLeast, kUsualMost); }

std::size_t TreeCache::blocks_of(std::uint64_t bytes) noexcept { return static_cast<std::size_t>(std::max(bytes / kBlockBytes, kFewestBlocks)); }

TreeBlockPtr TreeCache::find(std::uint64_t file_key, std::uint64_t tree_block) {
  const std::scoped_lock lock(mutex_);
  const auto found = index_.find(Key{file_key, tree_block});
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->block;
}

void TreeCache::insert(std::uint64_t file_key, std::uint64_t tree_block, TreeBlockPtr block) {
  const Key key{file_key, tree_block};
  std::list<Entry> old;  // freed after the lock is gone
  const std::scoped_lock lock(mutex_);
  if (index_.contains(key)) return;  // another thread climbed the same way
  entries_.push_front(Entry{key, std::move(block)});
  index_.emplace(key, entries_.begin());
  while (entries_.size() > capacity()) {
    index_.erase(entries_.back().key);
    old.splice(old.end(), entries_, std::prev(entries_.end()));
  }
}

}  // namespace vouchfs::verify
