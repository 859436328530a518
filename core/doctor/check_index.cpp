// Index files: their JSON, their keys, and their entries against the headers of the shards.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "doctor/index_view.h"
#include "formats/shard_groups.h"
#include "formats/shown_name.h"

namespace vouchfs::doctor {
namespace {

std::string quoted(const std::string& name) { return "'" + formats::shown_name(name) + "'"; }

bool is_missing_key(const std::string& problem) { return problem.starts_with("the key ") && problem.ends_with(" is missing"); }
bool is_bom(const std::string& problem) { return problem.find("byte order mark") != std::string::npos; }

// Files that are not there and whose tensors nobody else holds, with these tensors.
std::map<std::string, std::vector<std::string>> lost_shards(const IndexView& view) {
  std::map<std::string, std::vector<std::string>> lost;
  for (const auto& [name, tensors] : view.absent)
    for (const std::string& tensor : tensors)
      if (view.holders.count(tensor) == 0) lost[name].push_back(tensor);
  return lost;
}

const formats::IndexRecord* record_of(const ModelFacts& model, const FileFacts& file) {
  const auto& indexes = model.table.indexes;
  const auto is_it = [&](const formats::IndexRecord& one) { return join_path(one.folder, one.file_name) == file.path; };
  const auto at = std::find_if(indexes.begin(), indexes.end(), is_it);
  return at == indexes.end() ? nullptr : &*at;
}

// The index is written last: without the lost tensors it would make the model look complete, and the command refuses. "" leaves the catalogue's advice.
std::string advice_to_write(const ModelFacts& model, const FileFacts& file) {
  const formats::IndexRecord* record = record_of(model, file);
  return record == nullptr || record->missing_files.empty() ? "" : "fetch the shards that are missing first; then write the index again from the headers";
}

void say_shape(const ModelFacts& model, const FileFacts& file, const char* code, const std::string& message, Findings& findings) {
  Finding finding = about(model, file.path, code);
  finding.message = message;
  finding.advice = advice_to_write(model, file);
  finding.command = index_command(model, file.path, false);
  findings.add(std::move(finding));
}

void say_no_json(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  std::string problem = file.index->problems.front();
  if (constexpr std::string_view kSame = "not a valid index: "; problem.starts_with(kSame)) problem.erase(0, kSame.size());
  Finding finding = about(model, file.path, "index.not_json");
  finding.message = "the index is not JSON: " + problem + (file.kind.title.empty() ? "" : " (\"" + file.kind.title + "\")");
  const auto byte = problem.rfind("(at byte ");
  finding.offset = byte == std::string::npos ? 0 : std::strtoull(problem.c_str() + byte + 9, nullptr, 10);
  // Behind the first byte Python's words depend on what stands there.
  if (*finding.offset > 0) finding.loader = {"json.decoder.JSONDecodeError"};
  if (*finding.offset == 0 && !file.kind.bom) finding.loader = {"json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"};
  finding.advice = advice_to_write(model, file);
  finding.command = index_command(model, file.path, true);
  findings.add(std::move(finding));
}

void say_bom(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  Finding finding = about(model, file.path, "index.not_json");
  finding.offset = 0;
  finding.length = 3;
  finding.message = "a byte order mark (ef bb bf) stands before the JSON: Python's reader, and so every loader, refuses it";
  finding.loader = {"json.decoder.JSONDecodeError: Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)"};
  finding.command = index_command(model, file.path, false);
  findings.add(std::move(finding));
}

void say_keys(const ModelFacts& model, const FileFacts& file, const std::vector<std::string>& keys, Findings& findings) {
  Finding finding = about(model, file.path, "index.key_missing");
  finding.message = list_text(keys);
  for (const std::string& problem : keys) {
    const bool metadata = problem.find("metadata") != std::string::npos;
    finding.loader.push_back(metadata ? "KeyError: 'metadata'" : "KeyError: 'weight_map'");
    finding.message += metadata ? "; transformers and diffusers fail without metadata" : "; every reader of an index fails without weight_map";
  }
  finding.advice = advice_to_write(model, file);
  finding.command = index_command(model, file.path, file.index->weight_map.empty());
  findings.add(std::move(finding));
}

void check_paths(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  Finding finding = about(model, file.path, "index.unsafe_name");
  std::vector<std::string> unsafe;
  for (const auto& [tensor, name] : file.index->weight_map) {
    if (formats::is_plain_relative_path(name)) continue;
    finding.tensors.push_back(tensor);
    unsafe.push_back(quoted(name) + " for tensor " + quoted(tensor));
  }
  if (unsafe.empty()) return;
  finding.message = "weight_map names files that are no plain paths inside the folder: " + list_text(unsafe, 3);
  finding.command = index_command(model, file.path, false);
  findings.add(std::move(finding));
}

// What is wrong with the file alone. True when its entries can be judged: a malformed entry would count as left out too.
bool check_shape(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  if (!is_readable_index(file)) {
    say_no_json(model, file, findings);
    return false;
  }
  std::vector<std::string> keys;
  std::vector<std::string> others;
  for (const std::string& problem : file.index->problems) {
    if (is_bom(problem))
      say_bom(model, file, findings);
    else
      (is_missing_key(problem) ? keys : others).push_back(problem);
  }
  if (!keys.empty()) say_keys(model, file, keys, findings);
  if (!others.empty()) say_shape(model, file, "index.malformed", list_text(others, 3), findings);
  check_paths(model, file, findings);
  return others.empty() && (keys.empty() || !file.index->weight_map.empty());
}

// "tensor a is in 'x', the index says 'y'" for the first, and how many more.
void say_entries(const ModelFacts& model, const IndexView& view, const char* code, const std::vector<std::pair<std::string, std::string>>& entries,
                 Findings& findings) {
  if (entries.empty()) return;
  Finding finding = about(model, view.file->path, code);
  for (const auto& [tensor, sentence] : entries) finding.tensors.push_back(tensor);
  finding.message = entries.front().second;
  if (entries.size() > 1) finding.message += "; " + count_text(entries.size(), "tensor") + " in all";
  // An index without the lost tensors would make the model look complete.
  if (finding.code != "index.names_missing_tensor") {
    finding.command = index_command(model, view.file->path, false);
    finding.advice = advice_to_write(model, *view.file);
  }
  findings.add(std::move(finding));
}

struct Entries {
  std::vector<std::pair<std::string, std::string>> wrong;  // (tensor, sentence)
  std::vector<std::pair<std::string, std::string>> nowhere;
  std::vector<std::pair<std::string, std::string>> omitted;
};

void judge_entry(const ModelFacts& model, const IndexView& view, const std::string& tensor, const std::string& name, Entries& entries) {
  if (!formats::is_plain_relative_path(name)) return;
  const FileFacts* file = model.find(join_path(view.folder, name));
  const auto holders = view.holders.find(tensor);
  const bool elsewhere = holders != view.holders.end();
  if (elsewhere && std::find(holders->second.begin(), holders->second.end(), name) != holders->second.end()) return;
  if (file != nullptr && !names_known(*file)) return;  // its own trouble is said elsewhere
  if (elsewhere)
    entries.wrong.emplace_back(tensor, "tensor " + quoted(tensor) + " is in " + quoted(holders->second.front()) + ", the index says " + quoted(name));
  else if (file != nullptr)
    entries.nowhere.emplace_back(tensor,
                                 "the index gives tensor " + quoted(tensor) + " to " + quoted(name) + ", whose header lacks it, and no other shard holds it");
}

Entries judge_entries(const ModelFacts& model, const IndexView& view) {
  Entries entries;
  const auto& map = view.file->index->weight_map;
  for (const auto& [tensor, name] : map) judge_entry(model, view, tensor, name, entries);
  for (const FileFacts* member : view.members) {
    if (!names_known(*member)) continue;
    for (std::string& tensor : tensor_names(*member))
      if (map.count(tensor) == 0)
        entries.omitted.emplace_back(
            tensor, "shard " + quoted(name_in(view.folder, member->path)) + " holds tensor " + quoted(tensor) + ", which the index leaves out");
  }
  return entries;
}

const publisher::AbsentFile* listed_by_publisher(const ModelFacts& model, const std::string& path) {
  const auto& absent = model.evidence.absent;
  const auto at = std::find_if(absent.begin(), absent.end(), [&](const publisher::AbsentFile& file) { return file.path == path; });
  return at == absent.end() ? nullptr : &*at;
}

// What total_size leaves for the files that are not there.
std::uint64_t bytes_left(const IndexView& view) {
  std::uint64_t there = 0;
  for (const FileFacts* member : view.members)
    if (const auto* tensors = member->tensors())
      for (const formats::Tensor& tensor : *tensors) there += tensor.bytes();
  const std::uint64_t total = view.file->index->total_size.value_or(0);
  return total > there ? total - there : 0;
}

std::string missing_bytes_text(const ModelFacts& model, const IndexView& view, const std::string& path, std::size_t missing) {
  const publisher::AbsentFile* listed = listed_by_publisher(model, path);
  if (listed != nullptr && listed->evidence.bytes) return ", " + bytes_text(*listed->evidence.bytes) + " by the publisher's list";
  const std::uint64_t left = bytes_left(view);
  if (left == 0) return {};
  return ", " + bytes_text(left) + " of tensors" + (missing == 1 ? "" : " in all missing shards together") + " by total_size";
}

void say_missing(const ModelFacts& model, const IndexView& view, const std::string& name, const std::vector<std::string>& tensors, std::size_t missing,
                 Findings& findings) {
  const std::string path = join_path(view.folder, name);
  Finding finding = about(model, path, "index.names_missing_shard");
  finding.tensors = tensors;
  finding.message = "the index " + quoted(base_name(view.file->path)) + " names this shard, and it is not there: " + count_text(tensors.size(), "tensor") +
                    missing_bytes_text(model, view, path, missing);
  finding.loader = {"FileNotFoundError: No such file or directory: \"" + printable(path) + "\"", "does not appear to have a file named " + printable(path)};
  finding.advice = "fetch the shard";
  finding.command = fetch_command(model, path);
  findings.add(std::move(finding));
}

// A file is absent and nobody else holds its tensors. When all are absent while another kind of weights is here, check_layouts speaks of two kinds.
void check_missing(const ModelFacts& model, const IndexView& view, Findings& findings) {
  const std::map<std::string, std::vector<std::string>> missing = lost_shards(view);
  if (view.present.empty() && is_second_kind(model, view)) return;
  for (const auto& [name, tensors] : missing) say_missing(model, view, name, tensors, missing.size(), findings);
}

void check_total(const ModelFacts& model, const IndexView& view, Findings& findings) {
  const formats::IndexRecord* record = record_of(model, *view.file);
  if (record == nullptr) return;
  for (const formats::IndexCorrection& correction : record->corrections) {
    if (correction.tensor != "metadata.total_size") continue;
    Finding finding = about(model, view.file->path, "index.total_size");
    finding.message = "metadata.total_size says " + correction.was + " bytes, the tensors have " + correction.now;
    findings.add(std::move(finding));
  }
}

void check_one(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  if (file.pointer || !check_shape(model, file, findings) || model.single_file) return;
  const IndexView view = view_of(model, file);
  check_missing(model, view, findings);
  const Entries entries = judge_entries(model, view);
  say_entries(model, view, "index.wrong_shard", entries.wrong, findings);
  say_entries(model, view, "index.names_missing_tensor", entries.nowhere, findings);
  say_entries(model, view, "index.omits_tensor", entries.omitted, findings);
  if (entries.wrong.empty() && entries.nowhere.empty() && entries.omitted.empty() && view.absent.empty()) check_total(model, view, findings);
}

}  // namespace

void check_index(const ModelFacts& model, Findings& findings) {
  for (const FileFacts& file : model.files)
    if (file.index && file.presence == Presence::readable) check_one(model, file, findings);
}

}  // namespace vouchfs::doctor
