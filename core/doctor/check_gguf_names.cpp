#include "doctor/check_gguf_names.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace vouchfs::doctor {
namespace {

bool take(std::string_view& text, std::string_view word) {
  if (text.substr(0, word.size()) != word) return false;
  text.remove_prefix(word.size());
  return true;
}

void take_separator(std::string_view& text) {
  if (!text.empty() && (text[0] == '.' || text[0] == '-' || text[0] == '_')) text.remove_prefix(1);
}

std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end == text.data()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// "a", "b" … by hand, "aa", "ab" … by split(1): counted from 1.
std::optional<std::uint64_t> take_letters(std::string_view& text) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  if (text.empty() || text.size() > 2 || !std::all_of(text.begin(), text.end(), is_letter)) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : text) number = number * 26 + static_cast<std::uint64_t>(c - 'a');
  text = {};
  return number + 1;
}

}  // namespace

std::optional<RawPart> raw_part(const std::string& file_name) {
  constexpr std::string_view kExtension = ".gguf";
  const std::size_t at = file_name.find(kExtension);
  if (at == std::string::npos || at == 0) return std::nullopt;
  RawPart part;
  part.whole = file_name.substr(0, at + kExtension.size());
  std::string_view rest = std::string_view(file_name).substr(part.whole.size());
  take_separator(rest);
  if (!take(rest, "part") && !take(rest, "split")) return std::nullopt;
  take_separator(rest);
  part.before = file_name.substr(0, file_name.size() - rest.size());
  auto number = take_number(rest);
  const bool apart = !part.before.ends_with('t');  // "parts" is a word, "part-s" and "partaa" are pieces
  if (!number && (apart || rest.size() == 2)) number = take_letters(rest);
  if (!number) return std::nullopt;
  part.number = *number;
  part.after = std::string(rest);
  part.written = file_name.substr(part.before.size(), file_name.size() - part.before.size() - rest.size());
  if (rest.empty()) return part;
  take_separator(rest);
  if (!take(rest, "of")) return std::nullopt;
  take_separator(rest);
  const auto count = take_number(rest);
  if (!count || !rest.empty()) return std::nullopt;
  part.count = *count;
  return part;
}

std::string raw_part_name(const RawPart& part, std::uint64_t number) {
  std::string text = std::to_string(number);
  if (!part.written.empty() && part.written[0] >= 'a') {
    text = std::string(1, static_cast<char>('a' + (number - 1) % 26));
    if (part.written.size() > 1) text.insert(text.begin(), static_cast<char>('a' + (number - 1) / 26 % 26));
  }
  if (text.size() < part.written.size()) text.insert(0, part.written.size() - text.size(), '0');
  return part.before + text + part.after;
}

}  // namespace vouchfs::doctor
