// Source: the JUnit schema that CI servers read (testsuites, testsuite, testcase, failure, error, system-out); XML 1.0, section 2.2 for the characters allowed.
#include <cstdint>
#include <string_view>

#include "base/utf8.h"
#include "doctor/doctor.h"
#include "doctor/report_words.h"

namespace vouchfs::doctor {
namespace {

// U+FFFE and U+FFFF are valid UTF-8 and no characters of XML.
bool is_forbidden(std::string_view text, std::size_t at) noexcept {
  const std::string_view three = text.substr(at, 3);
  return three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF";
}

void append_character(std::string& out, char c) {
  switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
  }
}

void append_line(std::string& out, const std::string& line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!is_forbidden(line, i)) {
      append_character(out, line[i]);
      continue;
    }
    out += "?";
    i += 2;
  }
}

// Text for an element or an attribute, line ends kept as a reference (an attribute would turn a plain one into a blank).
std::string xml(std::string_view text) {
  std::string out;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    append_line(out, printable(text.substr(0, end)));
    out += "&#10;";
    text.remove_prefix(end + 1);
  }
  append_line(out, printable(text));
  return out;
}

std::string attribute(std::string_view name, std::string_view value) { return " " + std::string(name) + "=\"" + xml(value) + "\""; }

std::string failure(std::string_view kind, std::string_view message, std::string_view body) {
  return "<failure" + attribute("type", kind) + attribute("message", message) + ">" + xml(body) + "</failure>";
}

// An error fails its case; a warning or note is an output of a case that passes, as the verdict does.
std::string test_case(const Report& report, const Finding& finding) {
  const std::string head = "    <testcase" + attribute("classname", finding.code) + attribute("name", path_of(report, finding)) + ">";
  const std::string said = words_of(finding);
  if (finding.severity == Severity::error) return head + failure(finding.code, finding.message, said) + "</testcase>\n";
  return head + "<system-out>" + xml(std::string(to_string(finding.severity)) + ": " + said) + "</system-out></testcase>\n";
}

std::string verdict_case(const Report& report) {
  const std::string head = "    <testcase" + attribute("classname", "verdict") + attribute("name", report.path);
  if (report.verdict == Verdict::whole) return head + "/>\n";
  return head + ">" + failure(to_string(report.verdict), verdict_text(report), verdict_text(report)) + "</testcase>\n";
}

std::uint64_t failures_of(const Report& report) { return report.errors + (report.verdict == Verdict::whole ? 0 : 1); }

// Of a suite and of all suites: no "skipped", which the schema of Jenkins does not allow on the outermost element.
std::string counts(std::uint64_t tests, std::uint64_t failures, std::uint64_t errors) {
  return attribute("tests", std::to_string(tests)) + attribute("failures", std::to_string(failures)) + attribute("errors", std::to_string(errors));
}

std::string suite_head(const std::string& path, const std::string& numbers) {
  return "  <testsuite" + attribute("name", "vouchfs doctor " + path) + numbers + ">\n";
}

std::string suite(const Report& report) {
  std::string out = suite_head(report.path, counts(report.findings.size() + 1, failures_of(report), 0));
  for (const Finding& finding : report.findings) out += test_case(report, finding);
  return out + verdict_case(report) + "  </testsuite>\n";
}

std::string error_suite(const Unexamined& path) {
  const std::string kind = attribute("type", to_string(path.error.code)) + attribute("message", path.error.message);
  return suite_head(path.path, counts(1, 0, 1)) + "    <testcase" + attribute("classname", "verdict") + attribute("name", path.path) + "><error" + kind + ">" +
         xml(path.error.describe()) + "</error></testcase>\n  </testsuite>\n";
}

}  // namespace

std::string to_junit(const std::vector<Report>& reports, const std::vector<Unexamined>& unexamined) {
  std::uint64_t tests = unexamined.size(), failures = 0;
  std::string suites;
  for (const Report& report : reports) {
    tests += report.findings.size() + 1;
    failures += failures_of(report);
    suites += suite(report);
  }
  for (const Unexamined& path : unexamined) suites += error_suite(path);
  const std::string head = attribute("name", "vouchfs doctor") + counts(tests, failures, unexamined.size());
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + head + ">\n" + suites + "</testsuites>\n";
}

}  // namespace vouchfs::doctor
