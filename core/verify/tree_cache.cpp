#include "verify/tree_cache.h"

#include <algorithm>

namespace vouchfs::verify {
namespace {

constexpr std::uint64_t kFewestBlocks = 16;

}  // namespace

TreeCache::TreeCache(std::uint64_t bytes) : capacity_(static_cast<std::size_t>(std::max<std::uint64_t>(bytes / kBlockBytes, kFewestBlocks))) {}

TreeBlockPtr TreeCache::find(std::uint64_t file_key, std::uint64_t tree_block) {
  const std::scoped_lock lock(mutex_);
  const auto found = index_.find(Key{file_key, tree_block});
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->block;
}

void TreeCache::insert(std::uint64_t file_key, std::uint64_t tree_block, TreeBlockPtr block) {
  const Key key{file_key, tree_block};
  TreeBlockPtr oldest;  // freed after the lock is gone
  const std::scoped_lock lock(mutex_);
  if (index_.contains(key)) return;  // another thread climbed the same way
  entries_.push_front(Entry{key, std::move(block)});
  index_.emplace(key, entries_.begin());
  if (entries_.size() <= capacity_) return;
  oldest = std::move(entries_.back().block);
  index_.erase(entries_.back().key);
  entries_.pop_back();
}

}  // namespace vouchfs::verify
