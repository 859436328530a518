// digest.h: 32 bytes of SHA-256, and their text.
// Layer: core/hash (1). Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace vouchfs::hash {

inline constexpr std::size_t kDigestBytes = 32;
using Digest = std::array<std::uint8_t, kDigestBytes>;

// 64 lower-case hex digits.
std::string to_hex(const Digest& digest);
// "sha256:" + 64 hex digits, as fsverity prints it.
std::string to_text(const Digest& digest);
// Accepts exactly 64 hex digits, lower or upper case. Fails: invalid_argument.
Result<Digest> parse_hex(std::string_view text);
// Accepts "sha256:" + 64 hex digits. Fails: invalid_argument.
Result<Digest> parse_text(std::string_view text);

}  // namespace vouchfs::hash
