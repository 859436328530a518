// crc32.h: CRC-32 (the polynomial of zip and gzip) over a stream of bytes.
// Layer:   core/formats (2).
// Threads: one object a stream; no shared state.
// Cost:    about a byte a cycle or better; zlib does the work.
#pragma once

#include <cstdint>
#include <span>

namespace vouchfs::formats {

class Crc32 {
 public:
  void add(std::span<const std::uint8_t> bytes) noexcept;
  // Of everything added so far; 0 for nothing.
  std::uint32_t value() const noexcept { return value_; }

 private:
  std::uint32_t value_ = 0;
};

}  // namespace vouchfs::formats
