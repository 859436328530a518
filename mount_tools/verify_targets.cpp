#include "mount_tools/verify_targets.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "mount_tools/place_options.h"
#include "seal/seal_directory.h"

namespace vouchfs::mount_tools {
namespace {

using nlohmann::json;
using Targets = std::vector<view::ModelOptions>;

constexpr std::uint64_t kMaxStatusBytes = 64ULL << 20;
constexpr const char* kStatusFile = "/.vouch/status.json";  // only a mount has it
constexpr const char* kStatusAdvice = "is this a mount of vouchfs? give the directory of the model instead";

bool exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<view::ModelOptions> mounted_model(const json& row, const std::string& mount_point) {
  view::ModelOptions options;
  options.model_dir = text_at(row, "source");
  options.name = text_at(row, "name");
  const std::string seal = text_at(row, "seal");
  if (options.model_dir.empty() || seal.empty()) return fail(ErrorCode::bad_format, "does not say where its model and seal lie", mount_point + kStatusFile, kStatusAdvice);
  options.seal_dir = seal;
  options.by_digest = text_at(row, "layout") == "blobs";
  auto digest = hash::parse_text(text_at(row, "digest"));
  if (!digest) digest = hash::parse_hex(text_at(row, "digest"));
  if (!digest) return fail(ErrorCode::bad_format, "does not say which digest it serves", mount_point + kStatusFile, kStatusAdvice);
  options.digest = *digest;
  if (exists(options.model_dir + kStatusFile))
    return fail(ErrorCode::unsupported, "the mount covers the directory of its own model, so that cannot be read", options.model_dir,
                "unmount it, then verify the model; or mount somewhere else");
  return options;
}

Result<Targets> mounted_models(const std::string& mount_point) {
  VOUCHFS_ASSIGN(const UniqueFd fd, open_at(AT_FDCWD, mount_point + kStatusFile, O_RDONLY, mount_point + kStatusFile));
  std::string text;
  std::vector<std::uint8_t> piece(64 << 10);
  for (;;) {  // a live file has no size to go by
    VOUCHFS_ASSIGN(const std::size_t got, read_full(fd.get(), text.size(), piece, mount_point + kStatusFile));
    text.append(reinterpret_cast<const char*>(piece.data()), got);
    if (got < piece.size()) break;
    if (text.size() > kMaxStatusBytes) return fail(ErrorCode::bad_format, "is too large", mount_point + kStatusFile, kStatusAdvice);
  }
  const json status = json::parse(text, nullptr, false);
  const auto models = status.find("models");
  if (!status.is_object() || models == status.end() || !models->is_array())
    return fail(ErrorCode::bad_format, "is no status of a mount", mount_point + kStatusFile, kStatusAdvice);
  Targets targets;
  for (const json& row : *models) {
    VOUCHFS_ASSIGN(view::ModelOptions target, mounted_model(row, mount_point));
    targets.push_back(std::move(target));
  }
  return targets;
}

// Folders one level below that hold a seal, by name.
Targets models_of_store(const std::string& store) {
  Targets targets;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(store.c_str()), ::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    const std::string name = entry->d_name;
    const std::string path = store + "/" + name;
    if (name == "." || name == ".." || !exists(seal::seal_path(path, std::nullopt) + "/" + seal::kManifestName)) continue;
    view::ModelOptions options;
    options.model_dir = path;
    options.name = name;
    targets.push_back(std::move(options));
  }
  std::sort(targets.begin(), targets.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return targets;
}

}  // namespace

Result<Targets> verify_targets(const std::string& path, const view::ModelOptions& options, const std::optional<std::string>& revision) {
  if (exists(path + kStatusFile)) return mounted_models(path);
  VOUCHFS_ASSIGN(const publisher::Place place, publisher::locate_place(path, revision));
  const bool plain = place.kind == publisher::PlaceKind::folder;
  const bool one_model = !plain || options.seal_dir || options.digest || exists(place.default_seal_dir);
  Targets targets = one_model ? Targets{} : models_of_store(path);
  if (targets.empty()) {
    targets.push_back(options);
    point_at(place, targets.back());
  }
  return targets;
}

}  // namespace vouchfs::mount_tools
