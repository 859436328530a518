// text_columns.h: text measured and cut in terminal columns.
// Layer: core/view (5). Pure functions over valid UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vouchfs::view {

// Columns a terminal needs: two for a character from U+1100 on (wide in most of that range: an upper bound), one for every other.
std::size_t columns_of(std::string_view text);
// The text, or its head and tail with "…" between them, so that it needs at most `columns`, which is at least 3.
std::string fitted(const std::string& text, std::size_t columns);
// "a, b and 3 more": as many names as fit, at least the first, cut when it must be.
std::string fitted_list(const std::vector<std::string>& names, std::size_t columns);

}  // namespace vouchfs::view
