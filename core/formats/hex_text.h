// hex_text.h: digests as other tools write them: hex digits of a known number, in any case.
// Layer: core/formats (2). Pure functions.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace vouchfs::formats {

inline constexpr std::size_t kSha256Digits = 64;
inline constexpr std::size_t kSha1Digits = 40;

// The same digits in lower case, when there are exactly `digits` of them and nothing else.
inline std::optional<std::string> lower_hex(std::string_view text, std::size_t digits) {
  if (text.size() != digits) return std::nullopt;
  std::string hex(text);
  for (char& c : hex)
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  const bool all = std::all_of(hex.begin(), hex.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  return all ? std::optional(hex) : std::nullopt;
}

}  // namespace vouchfs::formats
