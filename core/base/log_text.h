// log_text.h: text for people that a CI server, which reads the log, must not take for its own commands.
// Layer:  core/base (0). Pure functions.
// Source: GitHub's runner takes "::name::" at the start of a line, blanks aside, and "##[name]" anywhere in one; Azure Pipelines "##vso[" anywhere.
#pragma once

#include <string>
#include <string_view>

namespace vouchfs {

// The same text, of any number of lines, with "\x3a:" for "::" at the start of a line, and "#\x23" for "##" before "[" or "vso[".
std::string without_log_commands(std::string_view text);

}  // namespace vouchfs
