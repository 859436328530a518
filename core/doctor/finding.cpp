#include "doctor/finding.h"

#include <string_view>

namespace vouchfs::doctor {

const char* to_string(Severity severity) noexcept {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
  }
  return "error";
}

const char* to_string(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::whole:
      return "whole";
    case Verdict::incomplete:
      return "incomplete";
    case Verdict::damaged:
      return "damaged";
    case Verdict::unusable:
      return "unusable";
  }
  return "damaged";
}

std::string shell_word(const std::string& text) {
  static constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,";
  const bool plain = !text.empty() && text.find_first_not_of(kPlain) == std::string::npos;
  if (plain) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace vouchfs::doctor
