#include "base/aligned_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/units.h"

namespace vouchfs {

void AlignedBuffer::Free::operator()(std::uint8_t* p) const noexcept { std::free(p); }

AlignedBuffer::AlignedBuffer(std::size_t bytes) : bytes_((bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes) {
  data_.reset(static_cast<std::uint8_t*>(std::aligned_alloc(kBlockBytes, std::max(bytes_, kBlockBytes))));
  if (!data_) throw std::bad_alloc();
}

BufferPool::BufferPool(std::size_t buffer_bytes, std::size_t keep) : buffer_bytes_(buffer_bytes), keep_(keep) { free_.reserve(keep); }

BufferPool::Lease BufferPool::lease(std::size_t bytes) {
  if (bytes <= buffer_bytes_) {
    const std::scoped_lock lock(mutex_);
    if (!free_.empty()) {
      AlignedBuffer buffer = std::move(free_.back());
      free_.pop_back();
      return {*this, std::move(buffer)};
    }
  }
  return {*this, AlignedBuffer(std::max(bytes, buffer_bytes_))};
}

BufferPool::Lease::~Lease() {
  if (buffer_.data() != nullptr) pool_->give_back(std::move(buffer_));
}

void BufferPool::give_back(AlignedBuffer buffer) noexcept {
  if (buffer.size() != (buffer_bytes_ + kBlockBytes - 1) / kBlockBytes * kBlockBytes) return;
  const std::scoped_lock lock(mutex_);
  if (free_.size() < keep_) free_.push_back(std::move(buffer));
}

}  // namespace vouchfs
