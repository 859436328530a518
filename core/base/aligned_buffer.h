// aligned_buffer.h: memory aligned to a block, as O_DIRECT wants it, and a pool that hands it out again.
// Layer:   core/base (0).
// Owns:    its memory. A Lease gives its buffer back to the pool, which must outlive it.
// Threads: AlignedBuffer: one owner. BufferPool: safe for concurrent calls, guarded by mutex_.
// Cost:    a lease from a warm pool takes one lock and no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace vouchfs {

class AlignedBuffer {
 public:
  AlignedBuffer() noexcept = default;
  // Bytes are rounded up to whole blocks. The content is undefined. Throws std::bad_alloc.
  explicit AlignedBuffer(std::size_t bytes);

  std::uint8_t* data() noexcept { return data_.get(); }
  const std::uint8_t* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return bytes_; }
  std::span<std::uint8_t> span() noexcept { return {data_.get(), bytes_}; }

 private:
  struct Free {
    void operator()(std::uint8_t* p) const noexcept;
  };
  std::unique_ptr<std::uint8_t[], Free> data_;
  std::size_t bytes_ = 0;
};

class BufferPool {
 public:
  class Lease {
   public:
    Lease(BufferPool& pool, AlignedBuffer buffer) noexcept : pool_(&pool), buffer_(std::move(buffer)) {}
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease();
    AlignedBuffer& operator*() noexcept { return buffer_; }
    AlignedBuffer* operator->() noexcept { return &buffer_; }

   private:
    BufferPool* pool_;
    AlignedBuffer buffer_;
  };

  // Buffers of buffer_bytes each are kept, at most `keep` of them; larger ones are freed at once.
  BufferPool(std::size_t buffer_bytes, std::size_t keep);
  // A buffer of at least `bytes` bytes, content undefined.
  Lease lease(std::size_t bytes);

 private:
  void give_back(AlignedBuffer buffer) noexcept;

  const std::size_t buffer_bytes_;
  const std::size_t keep_;
  std::mutex mutex_;
  std::vector<AlignedBuffer> free_;  // guarded by mutex_
};

}  // namespace vouchfs
