// pin_progress.h: how far the pinning of a mount is, for its status and its one line of explanation.
// Layer:   core/view (5).
// Threads: safe for concurrent calls, guarded by mutex_.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace vouchfs::view {

enum class PinState {
  off,  // nothing is pinned; `why` says why
  filling,
  done,  // nothing more will be pinned
};
const char* to_string(PinState state) noexcept;

struct PinFacts {
  PinState state = PinState::off;
  std::string why;  // why nothing, or not everything, is pinned; empty when all that was asked for is or will be
  std::uint64_t limit_bytes = 0;
  std::uint64_t matching_files = 0;  // that were asked for
  std::uint64_t planned_files = 0;   // of these, those that the limit has room for
  std::uint64_t planned_bytes = 0;
  std::uint64_t filled_bytes = 0;  // verified and in memory, those of pinned files included
  std::uint64_t pinned_files = 0;  // whole, sealed, and answered to new readers
  std::uint64_t pinned_bytes = 0;
};

class PinProgress {
 public:
  explicit PinProgress(PinFacts facts) : facts_(std::move(facts)) {}
  PinFacts snapshot() const;
  void fill(std::uint64_t bytes);
  void pin(std::uint64_t bytes);
  // A file of which so many bytes were filled stays unpinned. The first such reason is kept; true when this is it.
  bool leave(std::uint64_t filled, const std::string& why);
  void finish();

 private:
  mutable std::mutex mutex_;
  PinFacts facts_;     // guarded by mutex_
  bool left_ = false;  // guarded by mutex_
};

}  // namespace vouchfs::view
