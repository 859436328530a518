// catalogue.h: every code doctor can say, with what is always true of it. The man page lists the same codes (a test compares them).
// Layer: core/doctor (5). Data.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "doctor/finding.h"

namespace vouchfs::doctor {

struct CodeFacts {
  std::string_view code;     // "safetensors.truncated"
  Severity severity;         // unless a check knows better
  Verdict verdict;           // what a finding of this code makes of the model; whole for warnings and notes
  std::string_view title;    // "the file ends before its tensors do"
  std::vector<std::string_view> loader;  // what loaders print, newest first: both generations of safetensors names
  std::string_view advice;
};

// Sorted by code.
std::span<const CodeFacts> catalogue();
// Null for a code that is not in it.
const CodeFacts* find_code(std::string_view code);

}  // namespace vouchfs::doctor
