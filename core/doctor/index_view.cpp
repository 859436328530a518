#include "doctor/index_view.h"

#include <algorithm>
#include <array>
#include <span>

#include "doctor/check_parts.h"
#include "formats/shard_groups.h"

namespace vouchfs::doctor {
namespace {

// Files of a folder and of those below it: neighbours, since files are sorted by path.
std::span<const FileFacts> files_from(const ModelFacts& model, const std::string& folder) {
  const std::span<const FileFacts> all(model.files);
  if (folder.empty()) return all;
  const std::string prefix = folder + "/";
  const auto before = [](const FileFacts& file, const std::string& wanted) { return file.path < wanted; };
  const auto begin = std::lower_bound(all.begin(), all.end(), prefix, before);
  const auto end = std::find_if(begin, all.end(), [&](const FileFacts& file) { return !file.path.starts_with(prefix); });
  return all.subspan(static_cast<std::size_t>(begin - all.begin()), static_cast<std::size_t>(end - begin));
}

bool says_no_json(const std::string& problem) {
  static constexpr std::array<std::string_view, 6> kStarts = {
      "not a valid index",     "the file is empty", "the file holds nothing but blanks", "the file begins with zero", "the file is a Git LFS pointer",
      "the file is a web page"};
  return std::any_of(kStarts.begin(), kStarts.end(), [&](std::string_view start) { return problem.starts_with(start); });
}

void add_holders(const FileFacts& file, const std::string& folder, IndexView& view) {
  if (!names_known(file)) return;
  for (std::string& name : tensor_names(file)) {
    auto& files = view.holders[name];
    const std::string shown = name_in(folder, file.path);
    if (std::find(files.begin(), files.end(), shown) == files.end()) files.push_back(shown);
  }
}

// An index that names no file at all: by their names it is of the shards whose index has its name.
std::set<std::string> sets_by_name(const ModelFacts& model, const IndexView& view) {
  std::set<std::string> sets;
  const std::string index_name = base_name(view.file->path);
  for (const formats::IndexFamily family : {formats::IndexFamily::safetensors, formats::IndexFamily::torch}) {
    std::vector<std::string> names;
    for (const FileFacts* file : files_in(model, view.folder))
      if (file->path.ends_with(formats::shard_ending(family))) names.push_back(base_name(file->path));
    for (const formats::ShardGroup& group : formats::group_shards(names, family))
      if (group.index_name == index_name && !group.single_beside) sets.insert(formats::numbered_set_key(group.files.front()));
  }
  return sets;
}

}  // namespace

bool names_known(const FileFacts& file) {
  if (file.safetensors) {
    if (!file.safetensors->problem) return true;
    const std::string& name = file.safetensors->problem->name;
    return name != "HeaderTooSmall" && name != "HeaderTooLarge" && name != "InvalidHeaderLength" && name != "InvalidHeader" &&
           name != "InvalidHeaderDeserialization";
  }
  if (file.gguf) return !file.gguf->problem;
  return file.torch && !file.torch->problem;
}

std::vector<std::string> tensor_names(const FileFacts& file) {
  std::vector<std::string> names;
  if (const auto* tensors = file.tensors())
    for (const formats::Tensor& tensor : *tensors) names.push_back(tensor.name);
  return names;
}

std::string_view family_ending(std::string_view index_name) {
  for (const std::string_view ending : {".safetensors", ".bin", ".h5", ".msgpack"})
    if (index_name.find(std::string(ending) + ".") != std::string_view::npos) return ending;
  return {};
}

std::string name_in(const std::string& folder, const std::string& path) { return folder.empty() ? path : path.substr(folder.size() + 1); }

std::vector<const FileFacts*> files_in(const ModelFacts& model, const std::string& folder) {
  std::vector<const FileFacts*> files;
  for (const FileFacts& file : files_from(model, folder))
    if (folder_of(file.path) == folder) files.push_back(&file);
  return files;
}

std::set<std::string> weight_folders(const ModelFacts& model) {
  std::set<std::string> folders;
  for (const FileFacts& file : model.files)
    if (file.is_weights || file.index) folders.insert(folder_of(file.path));
  return folders;
}

bool is_readable_index(const FileFacts& file) {
  if (!file.index || file.presence != Presence::readable) return false;
  const auto& problems = file.index->problems;
  return std::none_of(problems.begin(), problems.end(), says_no_json);
}

IndexView view_of(const ModelFacts& model, const FileFacts& index) {
  IndexView view;
  view.file = &index;
  view.folder = folder_of(index.path);
  std::set<std::string> sets;
  for (const auto& [tensor, name] : index.index->weight_map) {
    if (!formats::is_plain_relative_path(name)) continue;
    const bool there = model.find(join_path(view.folder, name)) != nullptr;
    (there ? view.present : view.absent)[name].push_back(tensor);
    sets.insert(formats::numbered_set_key(name));
  }
  if (index.index->weight_map.empty()) sets = sets_by_name(model, view);
  sets.erase("");
  const std::string_view ending = family_ending(base_name(index.path));
  for (const FileFacts& file : files_from(model, view.folder)) {
    const bool here = folder_of(file.path) == view.folder;
    const std::string name = name_in(view.folder, file.path);
    const bool named = view.present.count(name) != 0;
    if (named || (here && sets.count(formats::numbered_set_key(name)) != 0 && file.is_weights)) view.members.push_back(&file);
    if (named || (here && !ending.empty() && file.path.ends_with(ending))) add_holders(file, view.folder, view);
  }
  return view;
}

std::vector<IndexView> index_views(const ModelFacts& model) {
  std::vector<IndexView> views;
  if (model.single_file) return views;
  for (const FileFacts& file : model.files)
    if (is_readable_index(file)) views.push_back(view_of(model, file));
  return views;
}

bool is_second_kind(const ModelFacts& model, const IndexView& view) {
  const std::string_view ending = family_ending(base_name(view.file->path));
  if (ending.empty()) return false;
  const auto files = files_in(model, view.folder);
  return std::any_of(files.begin(), files.end(), [&](const FileFacts* file) { return file->is_weights && !file->path.ends_with(ending); });
}

std::map<std::string, std::vector<std::string>> tensors_by_index(const ModelFacts& model) {
  std::map<std::string, std::vector<std::string>> tensors;
  for (const FileFacts& file : model.files) {
    if (!is_readable_index(file)) continue;
    std::map<std::string, std::vector<std::string>> of_index;
    const std::string folder = folder_of(file.path);
    for (const auto& [tensor, name] : file.index->weight_map) of_index[join_path(folder, name)].push_back(tensor);
    tensors.merge(of_index);  // of two that name a file the first counts
  }
  return tensors;
}

}  // namespace vouchfs::doctor
