// pinned_files.h: the files of a mount that are pinned, or will be: which id each is shown under, and its memory.
// Layer:   fs (6).
// Owns:    the memory of the files. What the kernel registered stays until the connection ends, so that an open handle never loses it.
// Threads: the table is const once the workers run. One thread fills and publishes; every FUSE worker reads. PinnedFile's mutex_ guards which memory
//          there is; none is held while bytes are read or written.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>

#include "base/unique_fd.h"
#include "fs/passthrough.h"
#include "view/pin_plan.h"

namespace vouchfs::fs {

class PinnedFile {
 public:
  explicit PinnedFile(view::PinItem item) : item_(std::move(item)) {}
  const view::PinItem& item() const noexcept { return item_; }

  // --- for the thread that fills ---
  void begin(std::shared_ptr<const UniqueFd> memory);
  // The first `bytes` bytes are in memory, verified.
  void note_filled(std::uint64_t bytes) noexcept { filled_.store(bytes, std::memory_order_release); }
  std::uint64_t filled() const noexcept { return filled_.load(std::memory_order_relaxed); }
  // Gives the memory back; a worker that reads it at this moment keeps it until it is done.
  void give_up();
  // From now on new readers are sent to the memory. Requires: it is whole and sealed.
  void publish(BackingId id) noexcept { backing_.store(id, std::memory_order_release); }

  // --- for the workers ---
  // 0 until it is published.
  BackingId backing() const noexcept { return backing_.load(std::memory_order_acquire); }
  std::uint64_t shown_id() const noexcept { return backing() > 0 ? item_.twin : item_.node->id; }
  // Copies verified bytes at `offset` to dst; false, and dst undefined, when not all of them are in memory.
  bool read(std::uint64_t offset, std::span<std::uint8_t> dst) const;

 private:
  const view::PinItem item_;
  std::atomic<std::uint64_t> filled_{0};
  std::atomic<BackingId> backing_{0};
  mutable std::mutex mutex_;
  std::shared_ptr<const UniqueFd> memory_;  // guarded by mutex_
};

class PinnedFiles {
 public:
  // Called once, before any worker runs.
  void expect(const view::PinPlan& plan);

  std::deque<PinnedFile>& files() noexcept { return files_; }
  // By either id; null when the file is not one to be pinned.
  const PinnedFile* find(std::uint64_t id) const;
  // The id under which a node is shown to who looks it up now.
  std::uint64_t shown_id(const view::Node& node) const;

 private:
  std::deque<PinnedFile> files_;  // by path
  std::unordered_map<std::uint64_t, PinnedFile*> by_id_;
};

}  // namespace vouchfs::fs
