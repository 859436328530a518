// place_options.h: from what a MODEL argument means to what opens its seal.
// Layer: mount_tools (7).
#pragma once

#include "publisher/place.h"
#include "view/sealed_model.h"

namespace vouchfs::mount_tools {

// Where the bytes and the seal lie, and the name of a model that is not called as its folder. A seal_dir and name that are set already stay.
void point_at(const publisher::Place& place, view::ModelOptions& options);

// Where the seal of a place is: `wanted` when it is not empty, else the place's own.
std::string seal_of(const publisher::Place& place, const std::string& wanted);

// "" is what an option that was not given has.
inline std::optional<std::string> if_given(const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); }

}  // namespace vouchfs::mount_tools
