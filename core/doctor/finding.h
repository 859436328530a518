// finding.h: one thing that is wrong, or worth knowing, about a model: what doctor says.
// Layer: core/doctor (5). Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vouchfs::doctor {

enum class Severity { error, warning, note };
const char* to_string(Severity severity) noexcept;

// The worst wins, in this order. DESIGN section 6.
enum class Verdict { whole, incomplete, damaged, unusable };
const char* to_string(Verdict verdict) noexcept;

struct Finding {
  std::string code;                     // of the catalogue: "safetensors.truncated"
  Severity severity = Severity::error;  // the catalogue's, unless a check knows better
  std::string file;                     // relative to PATH; its base name when PATH is a file
  std::optional<std::uint64_t> offset;  // bytes from the start of the file
  std::optional<std::uint64_t> length;
  std::vector<std::string> tensors;     // every tensor hit, in order of place
  std::string message;                  // what is true, in plain words: what, how much, where
  std::vector<std::string> loader;      // what loaders print for it, newest first; from the catalogue unless a check knows the exact text
  std::string advice;                   // what to do; from the catalogue unless a check knows better
  std::string command;                  // to type, with the real names in it, quoted for a shell; empty when there is none
};

// Quotes a name for a POSIX shell when it needs it.
std::string shell_word(const std::string& text);

}  // namespace vouchfs::doctor
