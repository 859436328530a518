// What PATH means to doctor: one model, or every model of a cache, a store or a folder of models.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "doctor/check_parts.h"
#include "doctor/doctor.h"
#include "doctor/file_names.h"
#include "doctor/folder_list.h"
#include "doctor/store_paths.h"
#include "doctor/stores.h"
#include "formats/shard_index.h"
#include "formats/weight_file.h"
#include "publisher/hf_cache.h"
#include "seal/seal_directory.h"

namespace vouchfs::doctor {
namespace {

using publisher::Place;
using Places = std::vector<Place>;

constexpr int kMaxDepth = 3;  // of folders of models: "publisher/name" and one more

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

Place hollow_snapshot(const std::string& cache_dir) {
  Place place = publisher::folder_place(cache_dir);
  place.kind = publisher::PlaceKind::hf_snapshot;
  place.cache_dir = cache_dir;
  return place;
}

// Every snapshot of a folder models--org--name, or the one that is asked for.
Result<Places> snapshots_of(const std::string& cache_dir, const std::optional<std::string>& revision) {
  Places places;
  if (revision) {
    VOUCHFS_ASSIGN(Place place, publisher::resolve_place(cache_dir, revision));
    places.push_back(std::move(place));
    return places;
  }
  const std::string snapshots = cache_dir + "/snapshots";
  for (const std::string& commit : names_in(snapshots)) {
    const std::string path = join_path(snapshots, commit);
    if (!is_folder(path)) continue;
    VOUCHFS_ASSIGN(Place place, publisher::resolve_place(path));
    places.push_back(std::move(place));
  }
  if (places.empty()) places.push_back(hollow_snapshot(cache_dir));
  return places;
}

Result<Places> models_of_hub(const std::string& hub, const std::optional<std::string>& revision) {
  if (revision) return fail(ErrorCode::invalid_argument, "holds several models, --revision goes with one", hub, "name one folder models--ORG--NAME of it");
  Places places;
  for (const std::string& cache_dir : hub_folders(hub)) {
    VOUCHFS_ASSIGN(const Places found, snapshots_of(cache_dir, std::nullopt));
    places.insert(places.end(), found.begin(), found.end());
  }
  return places;
}

// A name is a function of the store's own layout, so a manifest that cannot be read has a place too.
Place ollama_place(const std::string& store, const std::string& name) {
  Place place;
  place.kind = publisher::PlaceKind::ollama;
  place.store_dir = store;
  place.model_dir = store + "/blobs";
  place.manifest = "manifests/" + name;
  place.name = base_name(folder_of(name)) + "-" + base_name(name);
  place.default_seal_dir = store + "/" + seal::kSealFolder + "/" + name;
  if (const auto layers = publisher::read_ollama_layers(store, place.manifest))
    for (const publisher::NamedLayer& layer : *layers) place.files.push_back({layer.path, publisher::blob_name(place.model_dir, layer.layer.sha256)});
  return place;
}

Places models_of_ollama(const std::string& store) {
  Places places;
  for (const std::string& name : files_below(store + "/manifests")) {
    const bool is_manifest = std::count(name.begin(), name.end(), '/') == 3 && base_name(name)[0] != '.';  // host/namespace/model/tag
    if (is_manifest) places.push_back(ollama_place(store, name));
  }
  return places;
}

bool says_model(const std::string& name) {
  for (const char* known : {"config.json", "model_index.json", "adapter_config.json", "params.json", "modules.json", seal::kSealFolder})
    if (name == known) return true;
  return formats::weight_format_of_name(name) || formats::is_index_name(name) || name.ends_with(".h5") || name.ends_with(".msgpack") ||
         name.ends_with(".onnx") || is_weights_on_the_way(name);
}

bool is_model(const std::string& folder) {
  const std::vector<std::string> names = names_in(folder);
  return std::any_of(names.begin(), names.end(), says_model);
}

void find_folders(const std::string& folder, int depth, Places& places) {
  for (const std::string& name : names_in(folder)) {
    const std::string path = join_path(folder, name);
    if (name[0] == '.' || !is_folder(path)) continue;
    if (is_model(path))
      places.push_back(publisher::folder_place(path));
    else if (depth < kMaxDepth)
      find_folders(path, depth + 1, places);
  }
}

Result<Places> models_of_folder(const std::string& path) {
  Places places;
  if (!is_model(path)) find_folders(path, 1, places);
  if (!places.empty()) return places;
  VOUCHFS_ASSIGN(Place place, publisher::resolve_place(path));
  places.push_back(std::move(place));
  return places;
}

Result<Places> one_place(const std::string& argument, const std::optional<std::string>& revision) {
  auto place = publisher::resolve_place(argument, revision);
  if (!place && place.error().code == ErrorCode::bad_format) place = publisher::locate_place(argument, revision);  // its manifest is what is wrong
  if (!place) return fail(std::move(place).error());
  return Places{*std::move(place)};
}

}  // namespace

std::vector<std::string> hub_folders(const std::string& hub) {
  std::vector<std::string> folders;
  for (const std::string& name : names_in(hub))
    if (std::string path = join_path(hub, name); name.starts_with("models--") && publisher::is_hf_model_folder(path)) folders.push_back(std::move(path));
  return folders;
}

StorePath store_path(const std::string& argument) {
  const std::string path = without_slashes(argument);
  if (argument.starts_with("ollama:")) return {StoreKind::none, path};
  if (publisher::is_hf_model_folder(path)) return {StoreKind::hub_model, path};
  for (const std::string& root : {path, path + "/hub", path + "/huggingface/hub"})
    if (!hub_folders(root).empty()) return {StoreKind::hub, root};
  for (const std::string& root : {path, path + "/models"})
    if (is_folder(root + "/manifests") && is_folder(root + "/blobs")) return {StoreKind::ollama, root};
  return {StoreKind::none, path};
}

bool is_hollow(const Place& place) {
  if (place.kind == publisher::PlaceKind::hf_snapshot) return place.revision.empty();
  return place.kind == publisher::PlaceKind::ollama && place.files.empty();
}

Result<Places> find_models(const std::string& path, const std::optional<std::string>& revision) {
  if (path.starts_with("ollama:")) return one_place(path, revision);
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return fail(errno_error(errno, "cannot be diagnosed", path));
  const StorePath store = store_path(path);
  switch (store.kind) {
    case StoreKind::hub_model:
      return snapshots_of(store.root, revision);
    case StoreKind::hub:
      return models_of_hub(store.root, revision);
    case StoreKind::ollama:
      return models_of_ollama(store.root);
    case StoreKind::none:
      break;
  }
  return revision ? one_place(path, revision) : models_of_folder(without_slashes(path));
}

}  // namespace vouchfs::doctor
