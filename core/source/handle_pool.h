// handle_pool.h: keeps the most recently opened descriptors of all sources open, a bounded number of them, whatever the number of files.
// Layer:   core/source (2).
// Owns:    the handles it keeps; a source holds a weak reference and opens again when its handle is gone. A reader that works with a
//          handle shares it, so that letting one go never closes it under a read.
// Threads: safe for concurrent calls, guarded by mutex_; descriptors are closed outside of it.
#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "base/unique_fd.h"

namespace vouchfs::source {

struct Handle {
  UniqueFd fd;
  bool direct = false;  // opened with O_DIRECT
};
using HandlePtr = std::shared_ptr<const Handle>;

class HandlePool {
 public:
  explicit HandlePool(std::size_t capacity) : capacity_(capacity) {}
  // A quarter of the descriptors the process may open, between 64 and 4096.
  static std::size_t usual_capacity();
  // Keeps a newly opened handle, and lets the oldest go when there are too many.
  void keep(HandlePtr handle);

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  std::deque<HandlePtr> kept_;  // guarded by mutex_; oldest first
};

}  // namespace vouchfs::source
