// status_text.h: what `vouchfs status` prints for people, from the JSON that a mount answers with.
// Layer: core/view (5). A pure function; knows no mount.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace vouchfs::view {

inline constexpr std::size_t kStatusColumns = 100;

// Text of at most kStatusColumns columns (a wide character counts two), control characters escaped, one newline at the end.
// Unknown keys are ignored, missing ones left out, so that an older command can show a newer mount.
// Fails: bad_format when it is no JSON object.
Result<std::string> status_text(std::string_view status_json);

}  // namespace vouchfs::view
