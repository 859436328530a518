// json_digest.h: digests as JSON values. Internal to core/seal.
// Layer: core/seal (3).
#pragma once

#include <string>

#include "formats/json_fields.h"
#include "hash/digest.h"

namespace vouchfs::seal {

// A string of 64 hex digits, put into `into`, which must outlive the reading.
formats::JsonLeaf::Take take_digest(std::string what, hash::Digest& into);

}  // namespace vouchfs::seal
