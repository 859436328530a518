// The seal of a model, when there is one.
#include <sys/stat.h>

#include <algorithm>

#include "doctor/gather_parts.h"
#include "doctor/mounted_model.h"
#include "hash/sha256.h"

namespace vouchfs::doctor {
namespace {

bool exists(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

void attach(ModelFacts& model) {
  for (FileFacts& file : model.files) {
    const auto& sealed = model.sealed->files;
    const auto at =
        std::lower_bound(sealed.begin(), sealed.end(), file.path, [](const seal::ManifestFile& entry, const std::string& path) { return entry.path < path; });
    if (at != sealed.end() && at->path == file.path) file.sealed = *at;
  }
}

}  // namespace

void read_seal(ModelFacts& model, const std::optional<std::string>& seal_dir) {
  const std::string by_place = model.place.default_seal_dir.empty() ? seal::seal_path(model.place.model_dir, std::nullopt) : model.place.default_seal_dir;
  const std::string dir = seal_dir ? *seal_dir : by_place;
  // A mount of ours shows parts of its seal in a folder of the same name; it judges its files itself.
  if (!seal_dir && (!exists(dir + "/" + seal::kManifestName) || is_mount_folder(dir))) return;
  model.seal_dir = dir;
  auto opened = seal::open_seal(dir, std::nullopt, *hash::make_openssl_engine());
  if (!opened) {
    model.seal_trouble = opened.error().describe();
    return;
  }
  model.sealed = std::move(opened->manifest);
  attach(model);
}

}  // namespace vouchfs::doctor
