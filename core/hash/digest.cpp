#include "hash/digest.h"

namespace vouchfs::hash {
namespace {

constexpr std::string_view kPrefix = "sha256:";

// Value of one hex digit, or -1.
int value_of(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

// What a person typed, cut to a length that still fits a message.
std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 80;
  return "'" + std::string(text.substr(0, kShown)) + (text.size() > kShown ? "...'" : "'");
}

}  // namespace

std::string to_hex(const Digest& digest) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * kDigestBytes);
  for (const std::uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 0x0F];
  }
  return text;
}

std::string to_text(const Digest& digest) { return std::string(kPrefix) + to_hex(digest); }

Result<Digest> parse_hex(std::string_view text) {
  Digest digest{};
  bool good = text.size() == 2 * kDigestBytes;
  for (std::size_t i = 0; good && i < kDigestBytes; ++i) {
    const int high = value_of(text[2 * i]);
    const int low = value_of(text[2 * i + 1]);
    good = high >= 0 && low >= 0;
    digest[i] = good ? static_cast<std::uint8_t>(high * 16 + low) : std::uint8_t{0};
  }
  if (!good) return fail(ErrorCode::invalid_argument, quoted(text) + " is no SHA-256 digest", {}, "write exactly 64 hex digits");
  return digest;
}

Result<Digest> parse_text(std::string_view text) {
  if (text.substr(0, kPrefix.size()) != kPrefix)
    return fail(ErrorCode::invalid_argument, quoted(text) + " is no digest", {}, "write sha256: and 64 hex digits, as 'vouchfs digest' prints them");
  return parse_hex(text.substr(kPrefix.size()));
}

}  // namespace vouchfs::hash
