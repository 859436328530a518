#include "base/log_text.h"

#include <cstddef>

namespace vouchfs {
namespace {

bool begins(std::string_view text, std::string_view what) noexcept { return text.substr(0, what.size()) == what; }

// ASCII case aside, as CI servers compare.
bool is_vso(std::string_view text) noexcept {
  constexpr std::string_view kVso = "vso[";
  if (text.size() < kVso.size()) return false;
  for (std::size_t i = 0; i < kVso.size(); ++i)
    if (text[i] != kVso[i] && text[i] != (kVso[i] >= 'a' ? kVso[i] - 'a' + 'A' : kVso[i])) return false;
  return true;
}

bool is_old_command(std::string_view text) noexcept { return begins(text, "##") && (begins(text.substr(2), "[") || is_vso(text.substr(2))); }

}  // namespace

std::string without_log_commands(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool line_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (line_start && begins(rest, "::")) {
      out += "\\x3a";
    } else if (is_old_command(rest)) {
      out += "#\\x23";
      ++i;
    } else {
      out += text[i];
    }
    line_start = text[i] == '\n' || text[i] == '\r' || (line_start && (text[i] == ' ' || text[i] == '\t'));
  }
  return out;
}

}  // namespace vouchfs
