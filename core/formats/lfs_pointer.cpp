#include "formats/lfs_pointer.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "formats/hex_text.h"

namespace vouchfs::formats {
namespace {

constexpr std::string_view kVersions[] = {"https://git-lfs.github.com/spec/v1", "https://hawser.github.com/spec/v1"};
constexpr std::string_view kDigestPrefix = "sha256:";
constexpr auto kMaxBytes = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());  // git-lfs keeps sizes in an int64

bool is_known_version(std::string_view text) { return text == kVersions[0] || text == kVersions[1]; }

bool is_key(std::string_view text) {
  for (const char c : text)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-')) return false;
  return !text.empty();
}

bool is_one_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

// The next line, its end taken off; false at the end of the text.
bool next_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  const auto end = text.find('\n');
  line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return true;
}

bool take_digest(std::string_view value, std::string& digest) {
  if (!digest.empty() || value.substr(0, kDigestPrefix.size()) != kDigestPrefix) return false;
  const auto hex = lower_hex(value.substr(kDigestPrefix.size()), kSha256Digits);
  if (hex) digest = *hex;
  return hex.has_value();
}

bool take_size(std::string_view value, std::optional<std::uint64_t>& size) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (size || error != std::errc() || end != value.data() + value.size() || number > kMaxBytes) return false;
  size = number;
  return true;
}

}  // namespace

std::optional<LfsPointer> parse_lfs_pointer(std::string_view text) {
  if (text.size() >= kMaxLfsPointerBytes) return std::nullopt;
  LfsPointer pointer;
  std::optional<std::uint64_t> size;
  std::string_view line;
  for (bool first = true; next_line(text, line); first = false) {
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    const std::string_view key = line.substr(0, blank);
    const std::string_view value = line.substr(blank + 1);
    if (first != (key == "version") || !is_key(key) || !is_one_line(value)) return std::nullopt;
    if (first && !is_known_version(value)) return std::nullopt;
    if (key == "oid" && !take_digest(value, pointer.sha256)) return std::nullopt;
    if (key == "size" && !take_size(value, size)) return std::nullopt;
  }
  if (pointer.sha256.empty() || !size) return std::nullopt;
  pointer.bytes = *size;
  return pointer;
}

}  // namespace vouchfs::formats
