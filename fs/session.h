// session.h: one mount: attaches a view to a mount point, serves it, and ends it.
// Layer:   fs (6). libfuse's low-level API; its headers stay in the .cpp files.
// Owns:    the libfuse session and, through it, the mount; borrows the MountView, which must outlive it.
// Threads: mount() and serve() belong to the main thread, before any other is started; serve() runs the workers.
// Errors:  mount_failed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "view/mount_view.h"
#include "view/pin_plan.h"

namespace vouchfs::fs {

struct SessionOptions {
  std::string source;       // shown as the mount's source: the model or store
  std::string mount_point;  // absolute
  bool allow_other = false;  // other users may read; needs root or user_allow_other in fuse.conf
  std::vector<std::string> extra;  // further mount options for the kernel: "noexec", "noatime"
  std::uint64_t readahead_kb = 0;  // 0: leave the kernel's 128
  unsigned threads = 0;            // workers at most; 0: chosen
  std::optional<view::PinRequest> pin;  // files to keep in memory for the kernel to serve by itself
};

class Session {
 public:
  static Result<std::unique_ptr<Session>> mount(view::MountView& view, SessionOptions options);
  // Unmounts, lazily when busy.
  ~Session();

  // Serves until the mount is gone or SIGINT, SIGTERM or SIGHUP comes. on_ready is called once, when the mount answers.
  Status serve(const std::function<void()>& on_ready);

 private:
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Version of the libfuse that is loaded, "3.14.0".
std::string libfuse_version();

}  // namespace vouchfs::fs
