#include "doctor/report_words.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/utf8.h"

namespace vouchfs::doctor {
namespace {

std::string counted(std::uint64_t number, std::string_view word) { return std::to_string(number) + " " + std::string(word) + (number == 1 ? "" : "s"); }

void add_line(std::string& text, std::string_view label, const std::string& line) {
  if (line.empty()) return;
  if (!text.empty()) text += '\n';
  text.append(label).append(line);
}

// Also of a link to nothing and of a fifo.
bool is_file(const std::string& path) {
  std::error_code failed;
  return std::filesystem::exists(std::filesystem::symlink_status(path, failed)) && !std::filesystem::is_directory(path, failed);
}

}  // namespace

std::string path_of(const Report& report, const Finding& finding) {
  if (finding.file.empty() || is_file(report.path)) return report.path;
  return report.path + (report.path.empty() || report.path.back() == '/' ? "" : "/") + finding.file;
}

std::string place_text(const Finding& finding) {
  if (!finding.offset) return {};
  const std::string begin = std::to_string(*finding.offset);
  if (!finding.length || *finding.length == 0) return "from byte " + begin;
  return *finding.length == 1 ? "byte " + begin : "bytes " + begin + " to " + std::to_string(*finding.offset + (*finding.length - 1));
}

std::string tensors_text(const Finding& finding) {
  if (finding.tensors.empty()) return {};
  std::string text = finding.tensors.size() == 1 ? "tensor " : "tensors ";
  const std::size_t told = std::min(finding.tensors.size(), kToldTensors);
  for (std::size_t i = 0; i < told; ++i) text += (i == 0 ? "" : ", ") + printable(finding.tensors[i]);
  if (finding.tensors.size() > told) text += " and " + std::to_string(finding.tensors.size() - told) + " more";
  return text;
}

std::string words_of(const Finding& finding) {
  std::string text = finding.message;
  add_line(text, "", place_text(finding));
  add_line(text, "", tensors_text(finding));
  for (const std::string& line : finding.loader) add_line(text, "loaders say: ", line);
  add_line(text, "", finding.advice);
  add_line(text, "$ ", finding.command);
  return text;
}

std::string verdict_text(const Report& report) {
  return std::string(to_string(report.verdict)) + ": " + counted(report.errors, "error") + ", " + counted(report.warnings, "warning") + ", " +
         counted(report.notes, "note");
}

}  // namespace vouchfs::doctor
