// cancel.h: a flag that long work looks at between two pieces, set by a signal handler or another thread.
// Layer: core/base (0). Threads: request() is safe from signal handlers and any thread.
#pragma once

#include <atomic>

#include "base/result.h"

namespace vouchfs {

class CancelFlag {
 public:
  void request() noexcept { flag_.store(true, std::memory_order_relaxed); }
  bool requested() const noexcept { return flag_.load(std::memory_order_relaxed); }
  // Fails: cancelled, once requested.
  Status check() const;

 private:
  std::atomic<bool> flag_{false};
  static_assert(std::atomic<bool>::is_always_lock_free);
};

}  // namespace vouchfs
