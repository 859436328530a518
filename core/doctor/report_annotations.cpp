// Source: GitHub's workflow commands: "::error file=…,title=…::message", where a message writes %, CR and LF as %25, %0D and %0A, and a property also
// : and , as %3A and %2C.
#include <string_view>

#include "base/log_text.h"
#include "base/utf8.h"
#include "doctor/doctor.h"
#include "doctor/report_words.h"

namespace vouchfs::doctor {
namespace {

const char* command_of(Severity severity) noexcept {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      break;
  }
  return "notice";
}

bool ends_line(char c) noexcept { return c == '\n' || c == '\r'; }

// One character of an escaped text. `more`: further characters to escape.
void append_escaped(std::string& out, char c, std::string_view more) {
  if (c == '%')
    out += "%25";
  else if (c == '\n')
    out += "%0A";
  else if (c == '\r')
    out += "%0D";
  else if (more.find(c) == std::string_view::npos)
    out += c;
  else
    out += c == ':' ? "%3A" : "%2C";
}

// Line ends are kept (escaped), everything else is made fit for a log: a name from an untrusted model must not write a command of its own.
std::string escaped(std::string_view text, std::string_view more) {
  std::string out;
  while (!text.empty()) {
    std::size_t run = 0;
    while (run < text.size() && !ends_line(text[run])) ++run;
    for (const char c : printable(text.substr(0, run))) append_escaped(out, c, more);
    if (run < text.size()) append_escaped(out, text[run++], more);
    text.remove_prefix(run);
  }
  return out;
}

std::string as_data(std::string_view text) { return escaped(text, {}); }
std::string as_property(std::string_view text) { return escaped(text, ":,"); }

}  // namespace

std::string to_annotations(const Report& report) {
  std::string out;
  for (const Finding& finding : report.findings)
    out += std::string("::") + command_of(finding.severity) + " file=" + as_property(path_of(report, finding)) + ",title=" + as_property(finding.code) +
           "::" + as_data(words_of(finding)) + "\n";
  return out + without_log_commands("vouchfs doctor: " + printable(report.path)) + ": " + verdict_text(report) + "\n";
}

std::string to_annotation(const Unexamined& path) {
  return "::error file=" + as_property(path.path) + ",title=" + as_property(to_string(path.error.code)) + "::" + as_data(path.error.describe()) + "\n";
}

}  // namespace vouchfs::doctor
