// bytes.h: text of byte counts: "1.5 GiB" for people, "4K" or "1048576" from people.
// Layer: core/base (0).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace vouchfs {

// IEC text with at most one decimal: 1536 -> "1.5 KiB".
std::string format_bytes(std::uint64_t bytes);
// A size or rate: bytes, or a number with K, M, G or T (powers of 1024). Fails: invalid_argument.
Result<std::uint64_t> parse_bytes(std::string_view text);
// A duration in seconds: a number, or one with s, m, h or d. Fails: invalid_argument.
Result<double> parse_seconds(std::string_view text);

}  // namespace vouchfs
