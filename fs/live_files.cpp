#include "fs/live_files.h"

namespace vouchfs::fs {

std::uint64_t LiveFiles::open(const view::MountView& view, const view::Node& node) {
  auto content = std::make_shared<const std::string>(view.live_content(node));
  const std::scoped_lock lock(mutex_);
  open_.emplace(next_, std::move(content));
  return next_++;
}

std::shared_ptr<const std::string> LiveFiles::content(std::uint64_t handle, const view::MountView& view, const view::Node& node) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = open_.find(handle);
    if (found != open_.end()) return found->second;
  }
  return std::make_shared<const std::string>(view.live_content(node));
}

void LiveFiles::close(std::uint64_t handle) {
  const std::scoped_lock lock(mutex_);
  open_.erase(handle);
}

}  // namespace vouchfs::fs
