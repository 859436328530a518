// JSON files that loaders read: empty ones, web pages, byte order marks, and text that does not parse.
#include <algorithm>
#include <array>

#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "doctor/python_json.h"

namespace vouchfs::doctor {
namespace {

using formats::FileKind;

constexpr std::uint64_t kMaxJsonBytes = 64ULL << 20;  // the largest tokenizer.json known has 35 MB

// Names that loaders open; other JSON files of a folder are none of ours.
bool is_read_by_loaders(const std::string& name) {
  static constexpr std::array<std::string_view, 12> kNames = {"config.json",    "generation_config.json", "adapter_config.json", "model_index.json",
                                                              "tokenizer.json", "tokenizer_config.json",  "added_tokens.json",   "vocab.json",
                                                              "params.json",    "modules.json",           "chat_template.json",  "special_tokens_map.json"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() || name.ends_with("_config.json");
}

Finding about_text(const ModelFacts& model, const FileFacts& file, const char* code, std::string message) {
  Finding finding = about(model, file.path, code);
  finding.offset = 0;
  finding.message = std::move(message);
  finding.command = fetch_command(model, file.path);
  finding.loader = {"json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"};
  return finding;
}

void check_parse(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  if (file.bytes > kMaxJsonBytes) return;
  const auto read = open_reader(file);
  if (!read) return;
  std::string text(static_cast<std::size_t>(file.bytes), '\0');
  const auto got = (*read)(0, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
  if (!got) return;
  text.resize(*got);
  const Status status = check_python_json(text);
  if (status) return;
  Finding finding = about_text(model, file, "json.broken", "the file is no valid JSON: " + status.error().message);
  finding.offset = status.error().where.offset;
  finding.loader.clear();
  if (finding.offset) finding.message += " (at byte " + std::to_string(*finding.offset) + ")";
  findings.add(std::move(finding));
}

void check_file(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  const std::string title = file.kind.title.empty() ? std::string() : ": \"" + file.kind.title + "\"";
  switch (file.kind.kind) {
    case FileKind::empty:
      return findings.add(about_text(model, file, "file.empty", "the file is empty: nothing was written"));
    case FileKind::zeros:
      return findings.add(about_text(model, file, "file.never_written",
                                     "the size of " + bytes_text(file.bytes) + " was reserved, but no data was written: the file begins with zeros"));
    case FileKind::html:
      return findings.add(about_text(model, file, "content.web_page", "a web page was saved in place of the file" + title));
    case FileKind::error_text:
      return findings.add(about_text(model, file, "content.error_text", "the answer of a server was saved in place of the file" + title));
    default:
      break;
  }
  if (!file.kind.bom) return check_parse(model, file, findings);
  Finding finding = about_text(model, file, "json.bom", "a byte order mark (ef bb bf) stands before the JSON: Python's reader refuses it");
  finding.length = 3;
  finding.loader.clear();
  findings.add(std::move(finding));
}

}  // namespace

void check_text_files(const ModelFacts& model, Findings& findings) {
  for (const FileFacts& file : model.files)
    if (file.presence == Presence::readable && !file.pointer && !file.index && is_read_by_loaders(base_name(file.path))) check_file(model, file, findings);
}

}  // namespace vouchfs::doctor
