// shown_name.h: a name out of an untrusted file, for a message.
// Layer: core/formats (2).
#pragma once

#include <string>
#include <string_view>

#include "base/utf8.h"

namespace vouchfs::formats {

// Safe to print, and cut when it is long: a name may be as long as the header it stands in.
inline std::string shown_name(std::string_view name) {
  constexpr std::size_t kShownBytes = 256;
  return name.size() <= kShownBytes ? printable(name) : printable(name.substr(0, kShownBytes)) + "...";
}

}  // namespace vouchfs::formats
