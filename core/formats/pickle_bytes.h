// pickle_bytes.h: the bytes of one or several pickles, read as far as the machine gets. Internal to core/formats.
// Layer:  core/formats (2).
// Owns:   a buffer that holds what was read so far; it may move when it grows, so texts are kept as places in it.
// Errors: an io error of the reader is kept and returned by status(); the machine then stops as at an end.
// Cost:   at most kMaxPickleBytes of memory, and never more than twice what the machine asked for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/byte_reader.h"

namespace vouchfs::formats {

class PickleBytes {
 public:
  // Bytes [begin, end) of the file. Positions below count from `begin`.
  PickleBytes(const ReadAt& read, std::uint64_t begin, std::uint64_t end) : read_(read), begin_(begin), end_(end) {}

  // Makes `count` bytes at `position` available; false when they are not all there, cannot be read, or lie past the limit.
  bool ensure(std::uint64_t position, std::uint64_t count);
  // Bytes that ensure() made available.
  std::string_view at(std::uint64_t position, std::uint64_t count) const;
  // Where the next '\n' from `position` on is; kNowhere when there is none within `limit` bytes.
  std::uint64_t find_newline(std::uint64_t position, std::uint64_t limit);

  std::uint64_t file_offset(std::uint64_t position) const noexcept { return begin_ + position; }
  std::uint64_t size() const noexcept { return end_ - begin_; }
  bool over_limit() const noexcept { return over_limit_; }
  const Status& status() const noexcept { return status_; }

  static constexpr std::uint64_t kNowhere = UINT64_MAX;

 private:
  const ReadAt& read_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::string buffer_;
  bool over_limit_ = false;
  Status status_;
};

}  // namespace vouchfs::formats
