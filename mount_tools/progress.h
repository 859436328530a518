// progress.h: shows how far long work has come: a bar on a terminal, one line every ten seconds elsewhere, nothing with --quiet.
// Layer:   mount_tools (7).
// Owns:    one thread that looks at the work and writes to stderr; the destructor ends it and clears the bar.
// Threads: `look` is called from that thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "mount_tools/output.h"

namespace vouchfs::mount_tools {

struct ProgressNow {
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_total = 0;
};

// "ingest  42% [########            ]  1.2 GiB of 2.8 GiB  512.0 MiB/s  3 s left"; without the bar when `bar` is false.
std::string progress_text(const std::string& verb, const ProgressNow& now, double seconds, bool bar);

class ProgressLine {
 public:
  ProgressLine(Output& output, std::string verb, std::function<ProgressNow()> look);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void show_until_stopped();
  Output& output_;
  const std::string verb_;
  const std::function<ProgressNow()> look_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace vouchfs::mount_tools
