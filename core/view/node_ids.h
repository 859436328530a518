// node_ids.h: where node ids come from: content and name, never a counter, so that a restarted daemon gives the same ones.
// Layer: core/view (5). Pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "hash/digest.h"

namespace vouchfs::view {

// The id a node would like to have: the first 8 bytes, little-endian, of SHA-256(model digest, NUL, model name, NUL, path).
// model_name is empty unless the model is one of a store; what belongs to the store itself has a digest of zeros.
// attempt > 0 adds NUL and the number in decimal: the next wish after a collision.
std::uint64_t wished_id(const hash::Digest& model_digest, std::string_view model_name, std::string_view path, unsigned attempt);

// The first wish that is neither 0 nor 1 (the root) nor taken. Deterministic when names are added in a fixed order.
std::uint64_t first_free_id(const std::function<std::uint64_t(unsigned attempt)>& wish, const std::function<bool(std::uint64_t)>& taken);

}  // namespace vouchfs::view
