// A report for a terminal: the worst first, equal notes on many files in one place, the verdict last.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/bytes.h"
#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/doctor.h"
#include "doctor/report_words.h"

namespace vouchfs::doctor {
namespace {

constexpr std::size_t kIndent = 4;
constexpr std::size_t kNarrowest = 40;
constexpr std::size_t kShownLoader = 2;     // texts: the newest and the one before
constexpr std::size_t kShownFindings = 12;  // about a screen; --json has them all

// Breaks at blanks; a word that is longer than a line stays whole, so that a path can be copied.
void add_wrapped(std::string& out, const std::string& text, std::size_t width) {
  const std::size_t room = std::max(width, kNarrowest) - kIndent;
  std::size_t used = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::size_t word = end - at;
    // A line that begins with "::" is a command to a CI server, and words of a model's own names stand here too.
    const bool may_begin_line = text.compare(at, 2, "::") != 0;
    if (used != 0 && used + 1 + word > room && may_begin_line) used = 0, out += '\n';
    out.append(used == 0 ? std::string(kIndent, ' ') : " ").append(text, at, word);
    used += word + (used == 0 ? 0 : 1);
    at = end + 1;
  }
  if (!text.empty()) out += '\n';
}

// The same thing said of several files, by the first of them.
struct Group {
  const Finding* first;
  std::vector<const Finding*> all;
};

// Errors stand alone when they name tensors or bytes of their own; notes and warnings of one code are one.
std::vector<Group> group(const std::vector<Finding>& findings) {
  std::vector<Group> groups;
  std::map<std::tuple<std::string, Severity, std::string>, std::size_t> known;
  for (const Finding& finding : findings) {
    const bool alone = finding.severity == Severity::error && (finding.offset || !finding.tensors.empty());
    const auto key = std::make_tuple(finding.code, finding.severity, finding.severity == Severity::error ? finding.message : std::string());
    const auto [at, added] = alone ? std::make_pair(known.end(), true) : known.try_emplace(key, groups.size());
    if (added) {
      groups.push_back({&finding, {&finding}});
    } else {
      groups[at->second].all.push_back(&finding);
    }
  }
  return groups;
}

std::string head_line(const Group& group) {
  const Finding& finding = *group.first;
  std::string line = std::string(to_string(finding.severity)) + ": " + finding.code;
  line += "  " + (finding.file.empty() ? std::string(".") : printable(finding.file));
  const std::size_t more = group.all.size() - 1;
  if (more != 0) line += " (and " + count_text(more, "more file") + ")";
  return line + "\n";
}

std::string place_line(const Group& group) {
  const Finding& finding = *group.first;
  if (group.all.size() > 1) return {};
  const std::string place = place_text(finding);
  const std::string tensors = tensors_text(finding);
  return place + (place.empty() || tensors.empty() ? "" : "; ") + tensors;
}

void add_group(std::string& out, const Group& group, std::size_t width) {
  const Finding& finding = *group.first;
  out += head_line(group);
  add_wrapped(out, printable(finding.message), width);
  add_wrapped(out, place_line(group), width);
  if (finding.severity != Severity::note)
    for (std::size_t i = 0; i < std::min(finding.loader.size(), kShownLoader); ++i) add_wrapped(out, "loaders say: " + printable(finding.loader[i]), width);
  add_wrapped(out, finding.advice, width);
  if (!finding.command.empty()) out += std::string(kIndent, ' ') + "$ " + printable(finding.command) + "\n";
  out += '\n';
}

std::string counted(std::uint64_t number, const char* one) { return count_text(number, one); }

std::string verdict_line(const Report& report) {
  std::string line = "verdict: " + std::string(to_string(report.verdict));
  for (std::size_t i = 0; i < report.needs.size(); ++i) line += (i == 0 ? ", needs " : ", ") + report.needs[i];
  line += ": " + counted(report.errors, "error") + ", " + counted(report.warnings, "warning") + ", " + counted(report.notes, "note") + " in " +
          counted(report.files, "file") + ", " + format_bytes(report.bytes);
  return report.models > 1 ? line + ", " + counted(report.models, "model") : line;
}

}  // namespace

std::string to_text(const Report& report, std::size_t width) {
  std::string out;
  const std::vector<Group> groups = group(report.findings);
  for (std::size_t i = 0; i < std::min(groups.size(), kShownFindings); ++i) add_group(out, groups[i], width);
  if (groups.size() > kShownFindings) out += "and " + count_text(groups.size() - kShownFindings, "more finding") + "; --json lists them all\n\n";
  return out + printable(report.path) + ": " + verdict_line(report) + "\n";
}

}  // namespace vouchfs::doctor
