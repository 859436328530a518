// interrupt.h: turns SIGINT and SIGTERM into a CancelFlag for as long as it lives.
// Layer:   mount_tools (7).
// Owns:    one thread that waits for the two signals, and the signal mask of the thread that made it.
// Threads: make it before any other thread, so that they inherit the mask. A second signal ends the process at once (exit 130):
//          long work is safe to kill at any moment, and a read from a dead network share cannot be cancelled.
#pragma once

#include <csignal>
#include <thread>

#include "base/cancel.h"
#include "base/unique_fd.h"

namespace vouchfs::mount_tools {

class InterruptWatch {
 public:
  explicit InterruptWatch(CancelFlag& flag);
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

 private:
  void wait(CancelFlag& flag) const;
  sigset_t before_{};
  UniqueFd signals_;
  UniqueFd stop_;
  std::thread thread_;
};

}  // namespace vouchfs::mount_tools
