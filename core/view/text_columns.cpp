#include "view/text_columns.h"

#include <algorithm>

namespace vouchfs::view {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

std::size_t length_at(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && continues(text[end])) ++end;
  return end - at;
}

// U+1100 is E1 84 80 in UTF-8; bytes order as code points do. "…" (U+2026) is ours and known to be narrow.
std::size_t columns_at(std::string_view character) {
  if (character == "…") return 1;
  return character >= "\xE1\x84\x80" && static_cast<unsigned char>(character[0]) >= 0xE1 ? 2 : 1;
}

// Bytes of the longest head that needs at most `columns`.
std::size_t head_bytes(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = length_at(text, at);
    const std::size_t needed = columns_at(text.substr(at, length));
    if (needed > columns) break;
    columns -= needed;
    at += length;
  }
  return at;
}

// Where the longest tail that needs at most `columns` begins.
std::size_t tail_begin(std::string_view text, std::size_t columns) {
  std::size_t begin = text.size();
  while (begin > 0) {
    std::size_t at = begin - 1;
    while (at > 0 && continues(text[at])) --at;
    const std::size_t needed = columns_at(text.substr(at, begin - at));
    if (needed > columns) break;
    columns -= needed;
    begin = at;
  }
  return begin;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = length_at(text, at);
    columns += columns_at(text.substr(at, length));
    at += length;
  }
  return columns;
}

std::string fitted(const std::string& text, std::size_t columns) {
  if (columns_of(text) <= columns) return text;
  const std::size_t left = columns - 1;
  const std::size_t head = left / 2;
  return text.substr(0, head_bytes(text, head)) + "…" + text.substr(tail_begin(text, left - head));
}

std::string fitted_list(const std::vector<std::string>& names, std::size_t columns) {
  // " and N more" behind the first `shown` names.
  const auto more = [&](std::size_t shown) { return shown < names.size() ? " and " + std::to_string(names.size() - shown) + " more" : std::string(); };
  std::string all;
  std::string best;
  for (std::size_t shown = 1; shown <= names.size() && columns_of(all) <= columns; ++shown) {
    all += (shown == 1 ? "" : ", ") + names[shown - 1];
    if (columns_of(all + more(shown)) <= columns) best = all + more(shown);
  }
  if (!best.empty() || names.empty()) return best;
  const std::string rest = more(1);
  return fitted(names.front(), columns - std::min(columns - 3, rest.size())) + rest;
}

}  // namespace vouchfs::view
