#include "verify/known_bad.h"

namespace vouchfs::verify {

std::optional<KnownBadTable::Held> KnownBadTable::find(std::uint64_t first, std::uint64_t count, Clock::time_point now) const {
  const std::scoped_lock lock(mutex_);
  for (auto at = entries_.lower_bound(first); at != entries_.end() && at->first < first + count; ++at)
    if (now - at->second.since < kHolds) return at->second.held;
  return std::nullopt;
}

void KnownBadTable::insert(const BadBlock& bad, const std::optional<source::Stamp>& stamp, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  if (entries_.size() >= kMost && !entries_.contains(bad.block)) return;
  entries_.insert_or_assign(bad.block, Entry{{bad, stamp}, now});
  size_.store(entries_.size(), std::memory_order_release);
}

void KnownBadTable::erase(std::uint64_t first, std::uint64_t count) {
  const std::scoped_lock lock(mutex_);
  entries_.erase(entries_.lower_bound(first), entries_.lower_bound(first + count));
  size_.store(entries_.size(), std::memory_order_release);
}

std::vector<std::uint64_t> KnownBadTable::blocks() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::uint64_t> out;
  out.reserve(entries_.size());
  for (const auto& [block, entry] : entries_) out.push_back(block);
  return out;
}

}  // namespace vouchfs::verify
