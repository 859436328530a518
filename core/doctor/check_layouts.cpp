// Several layouts of one model side by side: the same tensors twice, two kinds of index, consolidated files, variants alone.
#include <algorithm>
#include <map>
#include <set>

#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "doctor/file_names.h"
#include "doctor/index_view.h"
#include "formats/shown_name.h"

namespace vouchfs::doctor {
namespace {

struct Folder {
  const ModelFacts& model;
  std::string path;
  std::vector<IndexView> indexes;
  std::vector<const FileFacts*> weights;  // of the folder itself

  bool is_member(const FileFacts* file) const {
    return std::any_of(indexes.begin(), indexes.end(),
                       [&](const IndexView& view) { return std::find(view.members.begin(), view.members.end(), file) != view.members.end(); });
  }
};

// Whose tensors count first: files of an index, then the single file that readers look for, then what lies beside them.
int rank_of(const Folder& folder, const FileFacts* file) {
  const std::string name = base_name(file->path);
  if (is_consolidated_name(name)) return 3;
  if (folder.is_member(file)) return 0;
  if (name == "model.safetensors" || name == "diffusion_pytorch_model.safetensors") return 1;
  return formats::parse_shard_name(name) ? 1 : 2;
}

void say_twice(const Folder& folder, const FileFacts* file, const std::string& other, std::vector<std::string> tensors, Findings& findings) {
  Finding finding = about(folder.model, file->path, "layout.duplicate_tensors");
  finding.message = count_text(tensors.size(), "tensor") + " of this file " + (tensors.size() == 1 ? "is" : "are") + " also in other files ('" +
                    formats::shown_name(tensors.front()) + "' in '" + formats::shown_name(other) + "'): two layouts of the same weights, or a stray file";
  finding.tensors = std::move(tensors);
  findings.add(std::move(finding));
}

void say_consolidated(const Folder& folder, const FileFacts* file, Findings& findings) {
  Finding finding = about(folder.model, file->path, "layout.consolidated");
  finding.message = "a second layout of weights beside the shards, with tensor names of its own";
  findings.add(std::move(finding));
}

// A folder where files belong together: several independent files in one folder may well hold the same names.
bool is_one_model(const Folder& folder) { return !folder.indexes.empty() || folder.model.find(join_path(folder.path, "config.json")) != nullptr; }

void check_kind(const Folder& folder, const std::string& variant, std::string_view ending, Findings& findings) {
  std::vector<const FileFacts*> files;
  for (const FileFacts* file : folder.weights) {
    const std::string name = base_name(file->path);
    if (name.ends_with(ending) && !is_adapter_name(name) && variant_of(name) == variant && names_known(*file)) files.push_back(file);
  }
  std::stable_sort(files.begin(), files.end(), [&](const FileFacts* a, const FileFacts* b) { return rank_of(folder, a) < rank_of(folder, b); });
  std::map<std::string, std::string> first;  // tensor -> file
  for (const FileFacts* file : files) {
    std::vector<std::string> twice;
    std::string other;
    for (std::string& tensor : tensor_names(*file)) {
      const auto [at, added] = first.try_emplace(tensor, base_name(file->path));
      if (added || at->second == base_name(file->path)) continue;
      if (twice.empty()) other = at->second;
      twice.push_back(std::move(tensor));
    }
    if (!twice.empty())
      say_twice(folder, file, other, std::move(twice), findings);
    else if (is_consolidated_name(base_name(file->path)) && !is_consolidated_name(base_name(files.front()->path)))
      say_consolidated(folder, file, findings);
  }
}

void check_twice(const Folder& folder, Findings& findings) {
  if (!is_one_model(folder)) return;
  std::set<std::string> variants;
  for (const FileFacts* file : folder.weights) variants.insert(variant_of(base_name(file->path)));
  for (const std::string& variant : variants)
    // Not .pth: consolidated.NN.pth are slices of the same tensors, one a GPU.
    for (const std::string_view ending : {".safetensors", ".bin"}) check_kind(folder, variant, ending, findings);
}

bool is_broken(const FileFacts* file, const ModelFacts& model, const Findings& findings) { return findings.has_error(model.shown_path(file->path)); }

void say_kinds(const Folder& folder, const IndexView& view, const IndexView& other, bool error, std::string what, Findings& findings) {
  Finding finding = about(folder.model, view.file->path, "index.two_kinds");
  finding.severity = error ? Severity::error : Severity::note;
  finding.message = "this folder has two kinds of index, this one and '" + formats::shown_name(base_name(other.file->path)) + "': " + std::move(what);
  if (error) finding.advice = "remove the index whose files are not here, or fetch them";
  findings.add(std::move(finding));
}

// Two kinds that are both whole are a note. One of which nothing is here but the index makes readers fail that expect exactly one.
void check_kinds(const Folder& folder, Findings& findings) {
  const auto ending = [](const IndexView& view) { return family_ending(base_name(view.file->path)); };
  for (const IndexView& view : folder.indexes) {
    const auto other = std::find_if(folder.indexes.begin(), folder.indexes.end(), [&](const IndexView& one) { return ending(one) != ending(view); });
    if (other == folder.indexes.end() || is_broken(view.file, folder.model, findings)) continue;
    if (view.present.empty() && !view.absent.empty() && is_second_kind(folder.model, view))
      return say_kinds(folder, view, *other, true, "none of the " + count_text(view.absent.size(), "file") + " it names is here", findings);
  }
  for (const IndexView& view : folder.indexes)
    if (ending(view) != ending(folder.indexes.front()) && view.absent.empty())
      return say_kinds(folder, view, folder.indexes.front(), false, "readers that ask by name take the one they know, accelerate refuses two", findings);
}

// One index whose files are none of them here, beside weights of another kind: a left-over of a download that chose one kind.
void check_left_over(const Folder& folder, Findings& findings) {
  if (folder.indexes.size() != 1) return;
  const IndexView& view = folder.indexes.front();
  if (!view.present.empty() || view.absent.empty() || !is_second_kind(folder.model, view)) return;
  Finding finding = about(folder.model, view.file->path, "index.two_kinds");
  finding.severity = Severity::note;
  finding.message = "none of the " + count_text(view.absent.size(), "file") + " that this index names is here; the weights that are here are of another kind";
  finding.advice = "nothing, if the other kind is the one that is wanted; else fetch the files it names";
  findings.add(std::move(finding));
}

void check_variants(const Folder& folder, Findings& findings) {
  std::set<std::string> variants;
  for (const FileFacts* file : folder.weights) {
    const std::string variant = variant_of(base_name(file->path));
    if (variant.empty()) return;
    variants.insert(variant);
  }
  if (variants.empty()) return;
  Finding finding = about(folder.model, folder.weights.front()->path, "variant.only");
  finding.message = "the weights are here only as variant " + list_text({variants.begin(), variants.end()}) + ": readers find them when asked for it";
  finding.advice = "ask for variant=\"" + *variants.begin() + "\"";
  findings.add(std::move(finding));
}

}  // namespace

void check_layouts(const ModelFacts& model, Findings& findings) {
  if (model.single_file) return;
  const std::vector<IndexView> views = index_views(model);
  for (const std::string& path : weight_folders(model)) {
    Folder folder{model, path, {}, {}};
    for (const IndexView& view : views)
      if (view.folder == path) folder.indexes.push_back(view);
    for (const FileFacts* file : files_in(model, path))
      if (file->is_weights) folder.weights.push_back(file);
    check_twice(folder, findings);
    check_kinds(folder, findings);
    check_left_over(folder, findings);
    check_variants(folder, findings);
  }
}

}  // namespace vouchfs::doctor
