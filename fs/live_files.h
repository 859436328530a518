// live_files.h: what a reader of status.json or events.jsonl sees is fixed when it opens the file, so that no line is torn between
// two reads. These are the only files whose handle is not 0; a handle nobody knows (the daemon was restarted) is made anew.
// Layer:   fs (6).
// Threads: safe for concurrent calls, guarded by mutex_; content is made outside of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "view/mount_view.h"

namespace vouchfs::fs {

class LiveFiles {
 public:
  // Takes a snapshot and returns its handle, never 0.
  std::uint64_t open(const view::MountView& view, const view::Node& node);
  std::shared_ptr<const std::string> content(std::uint64_t handle, const view::MountView& view, const view::Node& node);
  void close(std::uint64_t handle);

 private:
  std::mutex mutex_;
  std::uint64_t next_ = 1;                                              // guarded by mutex_
  std::map<std::uint64_t, std::shared_ptr<const std::string>> open_;  // guarded by mutex_
};

}  // namespace vouchfs::fs
