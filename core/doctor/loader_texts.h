// loader_texts.h: which of a code's loader texts belong to a file: a loader of .bin files never says "HeaderTooLarge". Internal to core/doctor.
// Layer: core/doctor (5). Pure function.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vouchfs::doctor {

// The texts that a loader of files of this name prints, in their order. A name that tells no format keeps them all, and so does a text that any program may
// print.
std::vector<std::string> texts_for(std::string_view file, std::span<const std::string_view> texts);

}  // namespace vouchfs::doctor
