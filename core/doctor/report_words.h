// report_words.h: what every form of a report says of a finding: where it is, and its words in one piece.
// Layer: core/doctor (5). Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "doctor/doctor.h"

namespace vouchfs::doctor {

// Names of this many tensors stand in a text; records hold them all.
inline constexpr std::size_t kToldTensors = 8;

// The file of a finding as a path that starts where the caller stands: PATH and the file below it; PATH alone for a finding about all of it.
// A PATH that is a file is the path itself.
std::string path_of(const Report& report, const Finding& finding);

// "bytes 4096 to 8191", "byte 17", "from byte 17", or "" when the finding has no place.
std::string place_text(const Finding& finding);

// "tensors a, b and 3 more", or "".
std::string tensors_text(const Finding& finding);

// Message, place, tensors, loader texts, advice and command, a line each; none that says nothing.
std::string words_of(const Finding& finding);

// "damaged: 2 errors, 1 warning, 3 notes".
std::string verdict_text(const Report& report);

}  // namespace vouchfs::doctor
