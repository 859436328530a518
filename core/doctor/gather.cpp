#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "doctor/check_parts.h"
#include "doctor/facts.h"
#include "doctor/folder_list.h"
#include "doctor/gather_parts.h"

namespace vouchfs::doctor {
namespace {

constexpr std::uint64_t kMaxConfigBytes = 16ULL << 20;

std::optional<std::string> small_text(const ModelFacts& model, const char* path) {
  const FileFacts* file = model.find(path);
  if (file == nullptr || file->presence != Presence::readable || file->bytes > kMaxConfigBytes) return std::nullopt;
  const auto read = open_reader(*file);
  if (!read) return std::nullopt;
  std::string text(static_cast<std::size_t>(file->bytes), '\0');
  const auto got = (*read)(0, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
  if (!got) return std::nullopt;
  text.resize(*got);
  return text;
}

void attach_evidence(ModelFacts& model) {
  std::vector<std::string> paths;
  for (const FileFacts& file : model.files) paths.push_back(file.path);
  model.evidence = publisher::find_evidence(model.place, paths);
  for (FileFacts& file : model.files)
    if (const auto found = model.evidence.files.find(file.path); found != model.evidence.files.end()) file.evidence = found->second;
}

// What is alike for a folder and a single file, once the names are known.
Status complete(ModelFacts& model, const GatherOptions& options, const CancelFlag& cancel) {
  for (FileFacts& file : model.files) {
    VOUCHFS_TRY(cancel.check());
    read_content(file);
  }
  VOUCHFS_TRY(judge_access(model, options.as_user));
  attach_evidence(model);
  model.config = small_text(model, "config.json");
  model.adapter_config = small_text(model, "adapter_config.json");
  model.table = make_table(model);
  read_seal(model, options.seal_dir);
  return {};
}

}  // namespace

const std::vector<formats::Tensor>* FileFacts::tensors() const noexcept {
  const auto pick = [](const auto& header) { return header.problem ? &header.claimed : &header.tensors; };
  const std::vector<formats::Tensor>* found = safetensors ? pick(*safetensors) : gguf ? pick(*gguf) : torch ? pick(*torch) : nullptr;
  return found == nullptr || found->empty() ? nullptr : found;
}

const FileFacts* ModelFacts::find(const std::string& path) const {
  const auto at = std::lower_bound(files.begin(), files.end(), path, [](const FileFacts& file, const std::string& wanted) { return file.path < wanted; });
  return at != files.end() && at->path == path ? &*at : nullptr;
}

std::string ModelFacts::shown_path(const std::string& path) const {
  // In a store the files of several models lie together, under the names of their digests.
  const auto named =
      std::find_if(place.files.begin(), place.files.end(), [&](const publisher::NamedFile& file) { return !shown.empty() && file.path == path; });
  if (named != place.files.end()) return shown + "/" + named->source;
  if (shown.empty() || path.empty()) return shown.empty() ? path : shown;
  return shown + "/" + path;
}

Result<ModelFacts> gather(const publisher::Place& place, const GatherOptions& options, const CancelFlag& cancel) {
  ModelFacts model;
  model.place = place;
  if (place.kind == publisher::PlaceKind::ollama) {
    // A layer that is not in the store is no file; check_ollama says which it is.
    for (const publisher::NamedFile& file : place.files)
      if (const std::string blob = place.model_dir + "/" + file.source; is_there(blob)) model.files.push_back(stat_file(file.path, blob));
  } else {
    VOUCHFS_TRY(scan_folder(model, cancel));
  }
  VOUCHFS_TRY(complete(model, options, cancel));
  return model;
}

Result<ModelFacts> gather_file(const std::string& path, const GatherOptions& options, const CancelFlag& cancel) {
  ModelFacts model;
  model.single_file = true;
  model.place.model_dir = path.find('/') == std::string::npos ? "." : path.starts_with("/") && path.rfind('/') == 0 ? "/" : path.substr(0, path.rfind('/'));
  model.place.name = base_name(path);
  model.files.push_back(stat_file(base_name(path), path));
  VOUCHFS_TRY(complete(model, options, cancel));
  return model;
}

}  // namespace vouchfs::doctor
