// pinner.h: fills the pinned files one after another, on a thread of its own, and has the kernel send new readers to them.
// Layer:   fs (6).
// Owns:    its thread; borrows the PinnedFiles, which must outlive it.
// Threads: start() and stop() belong to one thread. mutex_ guards whether the thread has ended.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "fs/kernel_verity.h"
#include "fs/pinned_files.h"
#include "view/pin_progress.h"

namespace vouchfs::fs {

// What it asks of the kernel.
struct PinKernel {
  std::function<VerityAnswer(int file)> ask_verity;
  std::function<Result<BackingId>(int file)> open_backing;
  // Forgets a name, so that the next who uses it looks it up again. May wait for look-ups that are under way in the folder.
  std::function<void(std::uint64_t parent, const std::string& name)> forget_name;
};

class Pinner {
 public:
  // Where there are more files than most_descriptors, only the kernel keeps the memory of each that is published, and who found the file under
  // its first id is served from the source.
  Pinner(PinnedFiles& files, std::shared_ptr<view::PinProgress> progress, PinKernel kernel, std::size_t most_descriptors);
  // Waits for the thread, however long it takes.
  ~Pinner();
  Pinner(const Pinner&) = delete;
  Pinner& operator=(const Pinner&) = delete;

  void start();
  // Asks the thread to end. True when it did within this time.
  bool stop(std::chrono::milliseconds patience);

 private:
  void run();
  // Puts one file where the kernel can read it: nowhere when it verifies the source's file itself, else into sealed memory. Fails as
  // fill_pinned does, and when there is no memory for it.
  Status pin(PinnedFile& file);
  Result<BackingId> pin_source(const PinnedFile& file) const;
  Result<BackingId> pin_memory(PinnedFile& file);
  Status fill(PinnedFile& file, int memory);
  void leave(PinnedFile& file, std::uint64_t filled, const Error& why);

  PinnedFiles& files_;
  const std::shared_ptr<view::PinProgress> progress_;
  const PinKernel kernel_;
  const bool keep_memory_;
  const std::function<void()> body_ = [this] { run(); };
  CancelFlag cancel_;
  std::mutex mutex_;
  std::condition_variable ended_changed_;
  bool ended_ = true;  // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace vouchfs::fs
