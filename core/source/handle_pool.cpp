#include "source/handle_pool.h"

#include <sys/resource.h>

#include <algorithm>

namespace vouchfs::source {

std::size_t HandlePool::usual_capacity() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 64;
  return static_cast<std::size_t>(std::clamp<rlim_t>(limit.rlim_cur / 4, 64, 4096));
}

void HandlePool::keep(HandlePtr handle) {
  HandlePtr oldest;  // closed after the lock is gone
  const std::scoped_lock lock(mutex_);
  kept_.push_back(std::move(handle));
  if (kept_.size() <= capacity_) return;
  oldest = std::move(kept_.front());
  kept_.pop_front();
}

}  // namespace vouchfs::source
