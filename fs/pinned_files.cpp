#include "fs/pinned_files.h"

#include "base/file.h"

namespace vouchfs::fs {

void PinnedFile::begin(std::shared_ptr<const UniqueFd> memory) {
  const std::lock_guard lock(mutex_);
  memory_ = std::move(memory);
}

void PinnedFile::give_up() {
  filled_.store(0, std::memory_order_release);
  std::shared_ptr<const UniqueFd> last;  // closed after the lock is gone
  const std::lock_guard lock(mutex_);
  last.swap(memory_);
}

bool PinnedFile::read(std::uint64_t offset, std::span<std::uint8_t> dst) const {
  if (offset + dst.size() > filled_.load(std::memory_order_acquire)) return false;
  std::shared_ptr<const UniqueFd> memory;
  {
    const std::lock_guard lock(mutex_);
    memory = memory_;
  }
  if (memory == nullptr) return false;
  const auto got = read_full(memory->get(), offset, dst, item_.path);
  return got && *got == dst.size();
}

void PinnedFiles::expect(const view::PinPlan& plan) {
  for (const view::PinItem& item : plan.items) {
    PinnedFile& file = files_.emplace_back(item);
    by_id_[item.node->id] = by_id_[item.twin] = &file;
  }
}

const PinnedFile* PinnedFiles::find(std::uint64_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

std::uint64_t PinnedFiles::shown_id(const view::Node& node) const {
  const PinnedFile* file = find(node.id);
  return file == nullptr ? node.id : file->shown_id();
}

}  // namespace vouchfs::fs
