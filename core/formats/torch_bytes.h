// torch_bytes.h: little-endian fields and exact reads, for the parsers of torch files. Internal to core/formats.
// Layer: core/formats (2).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/byte_reader.h"

namespace vouchfs::formats {

// The unsigned number in all bytes of `bytes` (at most 8), lowest first.
inline std::uint64_t load_little(std::string_view bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
  return value;
}
// The same for `count` bytes at `at`, which must be there.
inline std::uint64_t load_little(std::string_view bytes, std::size_t at, std::size_t count) noexcept { return load_little(bytes.substr(at, count)); }

// Appends exactly `count` bytes from `offset` to `to`, in pieces, so that memory follows the bytes that are really there.
Status append_exactly(const ReadAt& read, std::uint64_t offset, std::uint64_t count, std::string& to);

}  // namespace vouchfs::formats
