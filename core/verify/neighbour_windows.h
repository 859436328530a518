// neighbour_windows.h: the verified neighbours of bad blocks. When a window of many blocks fails because of one, the kernel asks again
// page by page; the good pages come from here instead of the disk.
// Layer:   core/verify (3).
// Threads: safe for concurrent calls, guarded by mutex_; copies are made outside of it.
// Memory:  at most kWindows windows, each as large as one request; only failed requests fill it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "verify/verified_file.h"

namespace vouchfs::verify {

class NeighbourWindows {
 public:
  static constexpr std::size_t kWindows = 16;

  // Keeps a copy of the blocks of a failed window; those in `bad` are marked and never given out.
  void keep(std::uint64_t file, std::uint64_t first, std::span<const std::uint8_t> bytes, std::span<const BadBlock> bad);
  // Copies blocks [first, first + dst.size() / 4096) into dst when one window has all of them verified.
  bool copy(std::uint64_t file, std::uint64_t first, std::span<std::uint8_t> dst) const;
  // Whether a window holds the whole range, bad blocks included.
  bool covers(std::uint64_t file, std::uint64_t first, std::uint64_t count) const;

 private:
  struct Window {
    std::uint64_t file;
    std::uint64_t first;
    std::vector<bool> good;  // by block
    std::vector<std::uint8_t> bytes;
    bool holds(std::uint64_t file_in, std::uint64_t first_in, std::uint64_t count) const noexcept {
      return file == file_in && first_in >= first && first_in + count <= first + good.size();
    }
  };
  std::shared_ptr<const Window> find(std::uint64_t file, std::uint64_t first, std::uint64_t count) const;

  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<const Window>> windows_;  // guarded by mutex_; newest first
};

}  // namespace vouchfs::verify
