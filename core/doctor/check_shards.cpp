// Sets of shards: numbers that are missing, sets without an index, unusual names.
#include <algorithm>
#include <iterator>
#include <set>

#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "doctor/file_names.h"
#include "doctor/index_view.h"
#include "formats/shard_groups.h"

namespace vouchfs::doctor {
namespace {

using formats::ShardGroup;

struct Folder {
  const ModelFacts& model;
  std::string path;
  std::vector<IndexView> indexes;

  bool has(const std::string& name) const { return model.find(join_path(path, name)) != nullptr; }
};

std::vector<std::string> names_of(const Folder& folder, std::string_view ending) {
  std::vector<std::string> names;
  for (const FileFacts* file : files_in(folder.model, folder.path))
    if (file->path.ends_with(ending)) names.push_back(base_name(file->path));
  return names;
}

// An index covers a set when it names any of it.
bool is_covered(const Folder& folder, const ShardGroup& group) {
  return std::any_of(folder.indexes.begin(), folder.indexes.end(), [&](const IndexView& view) {
    return std::any_of(group.files.begin(), group.files.end(), [&](const std::string& name) { return view.present.count(name) != 0; });
  });
}

// Another index whose files are all here: readers take that kind.
bool is_served_otherwise(const Folder& folder) {
  return std::any_of(folder.indexes.begin(), folder.indexes.end(), [](const IndexView& view) { return view.absent.empty() && !view.present.empty(); });
}

std::string numbers_text(const std::vector<std::string>& missing) {
  std::vector<std::string> numbers;
  for (const std::string& name : missing)
    if (const auto shard = formats::parse_shard_name(base_name(name))) numbers.push_back(std::to_string(shard->number));
  return list_text(numbers, 12);
}

void say_gap(const Folder& folder, const std::vector<std::string>& missing, std::uint64_t count, const std::string& why, Findings& findings) {
  const std::string path = join_path(folder.path, missing.front());
  if (findings.has_error(folder.model.shown_path(path))) return;
  Finding finding = about(folder.model, path, "shards.gap");
  finding.message = count_text(count, "shard") + (count == 1 ? " is" : " are") + " missing by the numbers: " + numbers_text(missing) + " (" +
                    list_text(missing, 3) + "); " + why;
  finding.command = fetch_command(folder.model, path);
  findings.add(std::move(finding));
}

// An index cannot be made while it is not known what a shard holds.
bool is_unknown(const Folder& folder, const std::string& name) {
  const FileFacts* file = folder.model.find(join_path(folder.path, name));
  return file != nullptr && !names_known(*file);
}

void say_no_index(const Folder& folder, const ShardGroup& group, Findings& findings) {
  Finding finding = about(folder.model, join_path(folder.path, group.index_name), "index.missing");
  finding.message = count_text(group.files.size(), "shard") + " (" + list_text(group.files, 3) + ") and no index: readers that ask for one find no weights";
  finding.command = index_command(folder.model, join_path(folder.path, group.index_name), false);
  if (std::any_of(group.files.begin(), group.files.end(), [&](const std::string& name) { return is_unknown(folder, name); }))
    finding.advice = "put the broken shards right first; then write the index from the headers, or let a view supply it";
  findings.add(std::move(finding));
}

bool is_numbered(const ShardGroup& group) { return !formats::numbered_set_key(group.files.front()).empty(); }

std::string without_digits(std::string name) {
  std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
  return name;
}

bool are_alike(const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return without_digits(name) == without_digits(names.front()); });
}

void check_group(const Folder& folder, const ShardGroup& group, Findings& findings) {
  if (group.single_beside || group.files.front().starts_with("adapter") || is_covered(folder, group)) return;
  const FileFacts* index = folder.model.find(join_path(folder.path, group.index_name));
  const bool names_nothing = index == nullptr || !index->index || index->index->weight_map.empty();
  if (!group.missing.empty() && names_nothing) return say_gap(folder, group.missing, group.missing_count, "no index says which tensors they held", findings);
  if (index != nullptr) return;  // it has its own finding
  // Files without "-of-" are one model only where a configuration says there is a model, and their names differ in nothing but numbers.
  const bool is_set = is_numbered(group) || (folder.has("config.json") && are_alike(group.files));
  if (group.files.size() >= 2 && is_set && !is_served_otherwise(folder)) say_no_index(folder, group, findings);
}

// What the numbers say is missing beyond what the index names.
void check_record(const Folder& folder, const IndexView& view, Findings& findings) {
  for (const formats::IndexRecord& record : folder.model.table.indexes) {
    if (join_path(record.folder, record.file_name) != view.file->path) continue;
    std::vector<std::string> missing;
    for (const std::string& name : record.missing_files)
      if (view.absent.count(name) == 0 && !folder.has(name)) missing.push_back(name);
    const bool names_none = view.file->index->weight_map.empty();
    if (!missing.empty())
      say_gap(folder, missing, missing.size(),
              names_none ? "the index names no tensor at all" : "the index names no tensor of them, and its total_size asks for more than is here", findings);
  }
}

// Needs an index whose files are all here: then it does not matter what they are called.
void check_names(const Folder& folder, const IndexView& view, Findings& findings) {
  if (!view.absent.empty() || view.present.size() < 2) return;
  std::vector<std::string> unusual;
  for (const auto& [name, tensors] : view.present) {
    const auto shard = formats::parse_shard_name(base_name(name));
    if (!is_usual_shard_name(base_name(name)) || shard->count != view.present.size()) unusual.push_back(name);
  }
  if (unusual.empty()) return;
  Finding finding = about(folder.model, view.file->path, "shards.unusual_names");
  finding.message = "unusual shard names, all of them listed in the index: " + list_text(unusual, 4);
  findings.add(std::move(finding));
}

}  // namespace

void check_shards(const ModelFacts& model, Findings& findings) {
  if (model.single_file) return;
  const std::vector<IndexView> views = index_views(model);
  for (const std::string& path : weight_folders(model)) {
    Folder folder{model, path, {}};
    std::copy_if(views.begin(), views.end(), std::back_inserter(folder.indexes), [&](const IndexView& view) { return view.folder == path; });
    for (const IndexView& view : folder.indexes) {
      check_record(folder, view, findings);
      check_names(folder, view, findings);
    }
    for (const formats::IndexFamily family : {formats::IndexFamily::safetensors, formats::IndexFamily::torch})
      for (const ShardGroup& group : formats::group_shards(names_of(folder, formats::shard_ending(family)), family)) check_group(folder, group, findings);
  }
}

}  // namespace vouchfs::doctor
