// SHA256SUMS: what sha256sum(1) writes and reads, in its three forms.
#include <algorithm>

#include "formats/hex_text.h"
#include "formats/shown_name.h"
#include "formats/store_files.h"

namespace vouchfs::formats {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kBsdStart = "SHA256 (";
constexpr std::string_view kBsdMiddle = ") = ";
constexpr std::string_view kEnding = ".sha256";

bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

// "\n", "\r" and "\\" of an escaped name; nullopt for any other backslash.
std::optional<std::string> unescape(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '\\') {
      out.push_back(name[i]);
      continue;
    }
    const char next = ++i < name.size() ? name[i] : '\0';
    if (next != 'n' && next != 'r' && next != '\\') return std::nullopt;
    out.push_back(next == 'n' ? '\n' : next == 'r' ? '\r' : '\\');
  }
  return out;
}

std::optional<ChecksumLine> parse_bsd(std::string_view line) {
  const auto middle = line.rfind(kBsdMiddle);
  if (!starts_with(line, kBsdStart) || middle == std::string_view::npos || middle <= kBsdStart.size()) return std::nullopt;
  const auto hex = lower_hex(line.substr(middle + kBsdMiddle.size()), kSha256Digits);
  if (!hex) return std::nullopt;
  return ChecksumLine{std::string(line.substr(kBsdStart.size(), middle - kBsdStart.size())), *hex};
}

std::optional<ChecksumLine> parse_usual(std::string_view line) {
  const auto hex = lower_hex(line.substr(0, kSha256Digits), kSha256Digits);
  if (!hex) return std::nullopt;
  const std::string_view rest = line.substr(kSha256Digits);
  if (rest.empty()) return ChecksumLine{std::string(), *hex};
  const bool marked = rest.size() > 2 && rest[0] == ' ' && (rest[1] == ' ' || rest[1] == '*');
  return marked ? std::optional(ChecksumLine{std::string(rest.substr(2)), *hex}) : std::nullopt;
}

std::optional<ChecksumLine> parse_line(std::string_view line) {
  const bool escaped = starts_with(line, "\\");
  if (escaped) line.remove_prefix(1);
  auto parsed = parse_bsd(line);
  if (!parsed) parsed = parse_usual(line);
  if (!parsed || !escaped) return parsed;
  auto name = unescape(parsed->file);
  if (!name) return std::nullopt;
  parsed->file = *std::move(name);
  return parsed;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace

Result<ChecksumList> parse_sha256sums(std::string_view text) {
  if (starts_with(text, kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  ChecksumList list;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos || line.front() == '#') continue;
    auto parsed = parse_line(line);
    const bool nul = parsed && parsed->file.find('\0') != std::string::npos;
    if (parsed && !nul)
      list.lines.push_back(*std::move(parsed));
    else if (++list.odd_lines == 1)
      list.first_odd_line = "line " + std::to_string(number) + " is no checksum line: '" + shown_name(line.substr(0, 120)) + "'";
  }
  if (list.lines.empty() && list.odd_lines != 0) return fail(ErrorCode::bad_format, list.first_odd_line);
  return list;
}

bool is_checksum_list_name(std::string_view file_name) {
  constexpr std::string_view kNames[] = {"sha256sums", "sha256sums.txt", "sha256sum", "sha256sum.txt"};
  const std::string name = lower(file_name);
  if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) return true;
  return name.size() > kEnding.size() && name.compare(name.size() - kEnding.size(), kEnding.size(), kEnding) == 0;
}

}  // namespace vouchfs::formats
