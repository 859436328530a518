// gguf_stream.h: the bytes of a GGUF header from front to back, in bounded pieces. Internal to core/formats.
// Layer:  core/formats (2).
// Owns:   one buffer of kPieceBytes; what is skipped is not read.
// Errors: the end of the file, the limit of a header, and a reader that fails, all give false; error() and past_limit() tell them apart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/byte_reader.h"

namespace vouchfs::formats {

// Keys and infos of the largest known files take some 20 MB. The reference has no such limit, but no patience either.
inline constexpr std::uint64_t kMaxGgufHeader = 1ULL << 30;

class GgufStream {
 public:
  // `read` must outlive the stream.
  GgufStream(std::uint64_t file_bytes, const ReadAt& read)
      : end_(file_bytes < kMaxGgufHeader ? file_bytes : kMaxGgufHeader), cut_short_(end_ < file_bytes), read_(read) {}

  std::uint64_t at() const noexcept { return at_; }
  std::uint64_t left() const noexcept { return end_ - at_; }
  // True when what was asked for may be in the file, but is more than a header may have.
  bool past_limit() const noexcept { return cut_short_; }
  // Set when the reader failed, or gave less than the file should have.
  const std::optional<Error>& error() const noexcept { return error_; }

  // All of dst, or false.
  bool take(std::span<std::uint8_t> dst);
  // A little-endian number of sizeof(T) bytes.
  template <class T>
  bool number(T& value) {
    std::uint64_t wide = 0;
    if (!take_little_endian(sizeof(T), wide)) return false;
    value = static_cast<T>(wide);
    return true;
  }
  // Exactly `bytes` of text. Requires: the caller bounded `bytes`.
  bool text(std::uint64_t bytes, std::string& into);
  bool skip(std::uint64_t bytes);

 private:
  static constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
  bool take_little_endian(std::size_t bytes, std::uint64_t& value);
  bool fill();

  std::uint64_t end_;
  bool cut_short_;
  const ReadAt& read_;
  std::uint64_t at_ = 0;
  std::vector<std::uint8_t> piece_;
  std::uint64_t piece_begin_ = 0;
  std::optional<Error> error_;
};

}  // namespace vouchfs::formats
