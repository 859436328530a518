// needs.h: the version of safetensors that a whole file asks for. Internal to core/doctor.
// Layer:  core/doctor (5).
// Source: safetensors changelog: F4, F6_*, F8_E8M0 in 0.6.0; C64 in 0.7.0; the FNUZ pair in 0.8.0.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "doctor/facts.h"

namespace vouchfs::doctor {

// "0.6", or nullopt for a dtype that every version of the last years knows.
std::optional<std::string_view> version_for_dtype(std::string_view dtype);
// "safetensors >= 0.6", or nullopt.
std::optional<std::string> safetensors_needed(const FileFacts& file);

}  // namespace vouchfs::doctor
