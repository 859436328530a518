// background_sha256.h: a SHA-256 stream that hashes on a thread of its own, while the caller hashes the same buffers another way.
// Layer:   core/ingest (5).
// Owns:    one thread; a buffer given to submit() is borrowed until wait() returns.
// Threads: one caller.
#pragma once

#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>

#include "hash/sha256.h"

namespace vouchfs::ingest {

class BackgroundSha256 {
 public:
  BackgroundSha256();
  ~BackgroundSha256();
  BackgroundSha256(const BackgroundSha256&) = delete;
  BackgroundSha256& operator=(const BackgroundSha256&) = delete;

  // The next bytes of the message. Requires: wait() since the last submit().
  void submit(std::span<const std::uint8_t> bytes);
  // Until what was submitted is hashed and its buffer free.
  void wait();
  hash::Digest finish();

 private:
  void work();
  hash::Sha256Stream stream_;  // touched by the thread while pending_ is not empty, else by the caller
  std::mutex mutex_;
  std::condition_variable changed_;
  std::span<const std::uint8_t> pending_;  // guarded by mutex_
  bool stop_ = false;                      // guarded by mutex_
  std::thread thread_;
};

}  // namespace vouchfs::ingest
