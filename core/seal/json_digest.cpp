#include "seal/json_digest.h"

#include <utility>

namespace vouchfs::seal {

formats::JsonLeaf::Take take_digest(std::string what, hash::Digest& into) {
  return formats::take_text(what, 2 * hash::kDigestBytes, [what, &into](std::string&& text) -> Status {
    const auto digest = hash::parse_hex(text);
    if (!digest) return fail(ErrorCode::bad_format, "'" + what + "' must be " + std::to_string(2 * hash::kDigestBytes) + " hex digits");
    into = *digest;
    return {};
  });
}

}  // namespace vouchfs::seal
