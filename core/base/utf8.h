// utf8.h: strict UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF), and text fit for a terminal.
// Layer: core/base (0).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vouchfs {

// Offset of the first byte that is not part of valid UTF-8, or npos when all of it is valid.
std::size_t find_invalid_utf8(std::string_view text) noexcept;
inline bool is_utf8(std::string_view text) noexcept { return find_invalid_utf8(text) == std::string_view::npos; }
// The same text with control characters and invalid bytes written as \xNN: safe to print, always valid UTF-8.
std::string printable(std::string_view text);

}  // namespace vouchfs
