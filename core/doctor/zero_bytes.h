// zero_bytes.h: whether bytes are all zero. Internal to core/doctor.
// Layer: core/doctor (5).
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace vouchfs::doctor {

// As fast as memcmp: a range whose first byte is zero and which equals itself one byte on is all zero.
inline bool is_zero(std::span<const std::uint8_t> bytes) noexcept {
  return bytes.empty() || (bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace vouchfs::doctor
