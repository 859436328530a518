#include "publisher/place.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "base/utf8.h"
#include "publisher/hf_cache.h"
#include "publisher/ollama_store.h"
#include "seal/seal_directory.h"

namespace vouchfs::publisher {
namespace {

namespace stdfs = std::filesystem;

constexpr std::string_view kOllamaPrefix = "ollama:";
constexpr const char* kBlobsFolder = "blobs";

bool exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string real_path(const std::string& path) {
  std::error_code failed;
  const auto resolved = stdfs::canonical(path, failed);
  return failed ? stdfs::absolute(path).lexically_normal().string() : resolved.string();
}

Place snapshot_place(const std::string& model_dir, const std::string& cache_dir, const std::string& commit) {
  Place place;
  place.kind = PlaceKind::hf_snapshot;
  place.model_dir = model_dir;
  place.name = hf_model_name(cache_dir);
  place.default_seal_dir = seal::seal_path(model_dir, std::nullopt);
  place.revision = commit;
  place.cache_dir = cache_dir;
  return place;
}

Result<Place> folder_or_snapshot(const std::string& argument, const std::optional<std::string>& revision) {
  const std::string path = without_slashes(argument);
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return fail(errno_error(errno, "there is no such model", argument));
  const std::string real = without_slashes(real_path(path));
  if (is_hf_model_folder(real)) {
    VOUCHFS_ASSIGN(const std::string commit, choose_snapshot(path, revision));
    return snapshot_place(path + "/snapshots/" + commit, path, commit);
  }
  const stdfs::path normal(real);
  const std::string cache = normal.parent_path().parent_path().string();
  const bool snapshot = normal.parent_path().filename() == "snapshots" && is_hf_model_folder(cache);
  const std::string commit = normal.filename().string();
  if (revision && !(snapshot && *revision == commit))
    return fail(ErrorCode::invalid_argument, "has no revisions to choose from", argument,
                "--revision goes with a folder models--ORG--NAME of a Hugging Face cache");
  return snapshot ? snapshot_place(path, cache, commit) : folder_place(path);
}

std::string known_models(const std::string& store) {
  std::string text;
  std::error_code failed;
  const stdfs::path root = stdfs::path(store) / "manifests";
  constexpr int kDepth = 3;  // host/namespace/model/tag
  constexpr std::size_t kListed = 20;
  std::size_t count = 0;
  for (stdfs::recursive_directory_iterator at(root, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code ignored;
    if (at.depth() != kDepth || !at->is_regular_file(ignored) || ++count > kListed) continue;
    const stdfs::path tag = at->path().lexically_relative(root);
    std::string name = tag.parent_path().string();
    constexpr std::string_view kUsual = "registry.ollama.ai/library/";
    if (name.compare(0, kUsual.size(), kUsual) == 0) name.erase(0, kUsual.size());
    text += (text.empty() ? "" : ", ") + printable(name) + ":" + printable(tag.filename().string());
  }
  if (count > kListed) text += " and " + std::to_string(count - kListed) + " more";
  return text.empty() ? "no model" : text;
}

Error no_such_ollama_model(const std::string& argument, const std::vector<std::string>& stores) {
  std::string text = "there is no such model;";
  for (std::size_t i = 0; i < stores.size(); ++i)
    text += (i == 0 ? " " : "; ") + stores[i] + (exists(stores[i]) ? " holds " + known_models(stores[i]) : " does not exist");
  return make_error(ErrorCode::not_found, text, argument, "write the name as `ollama list` shows it, and set OLLAMA_MODELS when the store lies elsewhere");
}

// The first store that has the manifest, else the first that has a seal of it, or nothing.
std::optional<std::string> store_with(const std::vector<std::string>& stores, const std::string& manifest, const std::string& seal) {
  for (const std::string& wanted : {manifest, seal})
    for (const std::string& store : stores)
      if (exists((stdfs::path(store) / wanted).string())) return without_slashes(store);
  return std::nullopt;
}

Result<Place> ollama_place(const std::string& argument) {
  VOUCHFS_ASSIGN(const OllamaName name, parse_ollama_name(argument.substr(kOllamaPrefix.size())));
  Place place;
  place.kind = PlaceKind::ollama;
  place.manifest = "manifests/" + name.path();
  const std::string seal = std::string(seal::kSealFolder) + "/" + name.path();
  const std::vector<std::string> stores = ollama_stores();
  const auto store = store_with(stores, place.manifest, seal);
  if (!store) return fail(no_such_ollama_model(argument, stores));
  place.store_dir = *store;
  place.model_dir = *store + "/" + kBlobsFolder;
  place.name = name.model + "-" + name.tag;
  place.default_seal_dir = *store + "/" + seal;
  return place;
}

}  // namespace

Place folder_place(const std::string& model_dir) {
  Place place;
  place.model_dir = model_dir;
  place.name = stdfs::path(without_slashes(real_path(model_dir))).filename().string();
  place.default_seal_dir = seal::seal_path(model_dir, std::nullopt);
  return place;
}

Result<Place> locate_place(const std::string& argument, const std::optional<std::string>& revision) {
  if (argument.compare(0, kOllamaPrefix.size(), kOllamaPrefix) != 0) return folder_or_snapshot(argument, revision);
  if (revision) return fail(ErrorCode::invalid_argument, "has no revisions to choose from", argument, "write the tag behind the name: ollama:NAME:TAG");
  return ollama_place(argument);
}

Result<Place> resolve_place(const std::string& argument, const std::optional<std::string>& revision) {
  VOUCHFS_ASSIGN(Place place, locate_place(argument, revision));
  if (place.kind != PlaceKind::ollama) return place;
  VOUCHFS_ASSIGN(const std::vector<NamedLayer> layers, read_ollama_layers(place.store_dir, place.manifest));
  for (const NamedLayer& layer : layers) place.files.push_back({layer.path, blob_name(place.model_dir, layer.layer.sha256)});
  return place;
}

}  // namespace vouchfs::publisher
