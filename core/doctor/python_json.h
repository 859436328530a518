// python_json.h: JSON as Python's reader takes it, which is more than RFC 8259: NaN, Infinity, lone surrogates. Internal to core/doctor.
// Layer:  core/doctor (5). Pure function.
// Errors: bad_format with where.offset: the byte in the text.
// Cost:   one pass, and a copy of the text.
#pragma once

#include <string_view>

#include "base/result.h"

namespace vouchfs::doctor {

Status check_python_json(std::string_view text);

}  // namespace vouchfs::doctor
