#include "verify/neighbour_windows.h"

#include <algorithm>
#include <cstring>

namespace vouchfs::verify {

void NeighbourWindows::keep(std::uint64_t file, std::uint64_t first, std::span<const std::uint8_t> bytes, std::span<const BadBlock> bad) {
  auto window = std::make_shared<Window>();
  window->file = file;
  window->first = first;
  window->good.assign(bytes.size() / kBlockBytes, true);
  window->bytes.assign(bytes.begin(), bytes.end());
  for (const BadBlock& block : bad) window->good[block.block - first] = false;
  std::shared_ptr<const Window> oldest;  // freed after the lock is gone
  const std::scoped_lock lock(mutex_);
  windows_.push_front(std::move(window));
  if (windows_.size() <= kWindows) return;
  oldest = std::move(windows_.back());
  windows_.pop_back();
}

std::shared_ptr<const NeighbourWindows::Window> NeighbourWindows::find(std::uint64_t file, std::uint64_t first, std::uint64_t count) const {
  const std::scoped_lock lock(mutex_);
  const auto found = std::find_if(windows_.begin(), windows_.end(), [&](const auto& window) { return window->holds(file, first, count); });
  return found == windows_.end() ? nullptr : *found;
}

bool NeighbourWindows::covers(std::uint64_t file, std::uint64_t first, std::uint64_t count) const { return find(file, first, count) != nullptr; }

bool NeighbourWindows::copy(std::uint64_t file, std::uint64_t first, std::span<std::uint8_t> dst) const {
  const std::uint64_t count = dst.size() / kBlockBytes;
  const auto window = find(file, first, count);
  if (!window) return false;
  const std::uint64_t at = first - window->first;
  for (std::uint64_t i = at; i < at + count; ++i)
    if (!window->good[i]) return false;
  std::memcpy(dst.data(), window->bytes.data() + at * kBlockBytes, dst.size());
  return true;
}

}  // namespace vouchfs::verify
