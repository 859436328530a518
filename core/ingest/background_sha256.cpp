#include "ingest/background_sha256.h"

namespace vouchfs::ingest {

BackgroundSha256::BackgroundSha256() : thread_([this] { work(); }) {}

BackgroundSha256::~BackgroundSha256() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundSha256::submit(std::span<const std::uint8_t> bytes) {
  {
    const std::lock_guard lock(mutex_);
    pending_ = bytes;
  }
  changed_.notify_all();
}

void BackgroundSha256::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return pending_.empty(); });
}

hash::Digest BackgroundSha256::finish() {
  wait();
  return stream_.finish();
}

void BackgroundSha256::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !pending_.empty(); });
    if (pending_.empty()) return;
    const std::span<const std::uint8_t> bytes = pending_;
    lock.unlock();
    stream_.update(bytes);
    lock.lock();
    pending_ = {};
    changed_.notify_all();
  }
}

}  // namespace vouchfs::ingest
