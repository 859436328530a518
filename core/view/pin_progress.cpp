#include "view/pin_progress.h"

namespace vouchfs::view {

const char* to_string(PinState state) noexcept {
  switch (state) {
    case PinState::off: return "off";
    case PinState::filling: return "filling";
    case PinState::done: return "done";
  }
  return "off";
}

PinFacts PinProgress::snapshot() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

void PinProgress::fill(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  facts_.filled_bytes += bytes;
}

void PinProgress::pin(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  ++facts_.pinned_files;
  facts_.pinned_bytes += bytes;
}

bool PinProgress::leave(std::uint64_t filled, const std::string& why) {
  const std::lock_guard lock(mutex_);
  facts_.filled_bytes -= filled;
  if (left_) return false;
  facts_.why += (facts_.why.empty() ? "" : "; ") + why;
  return left_ = true;
}

void PinProgress::finish() {
  const std::lock_guard lock(mutex_);
  if (facts_.state == PinState::filling) facts_.state = PinState::done;
}

}  // namespace vouchfs::view
