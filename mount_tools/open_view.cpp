#include "mount_tools/open_view.h"

#include <algorithm>
#include <filesystem>

#include "base/log.h"

namespace vouchfs::mount_tools {
namespace {

namespace stdfs = std::filesystem;

bool has_seal(const stdfs::path& folder) {
  std::error_code failed;
  return stdfs::exists(folder / seal::kSealFolder / seal::kManifestName, failed);
}

Result<std::vector<std::string>> folders_of(const std::string& store) {
  std::vector<std::string> names;
  std::error_code failed;
  for (stdfs::directory_iterator at(store, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) names.push_back(at->path().filename().string());
  }
  if (failed) return fail(errno_error(failed.value(), "cannot be listed", store));
  std::sort(names.begin(), names.end());
  return names;
}

void hide(view::Runtime& runtime, const std::string& name, const std::string& why) {
  observe::Event event;
  event.event = "model_hidden";
  event.model = name;
  event.detail = why;
  runtime.events.record(event);
}

Result<std::unique_ptr<view::MountView>> open_store(const view::ModelOptions& options, view::Runtime& runtime) {
  VOUCHFS_ASSIGN(const std::vector<std::string> names, folders_of(options.model_dir));
  std::vector<std::unique_ptr<view::SealedModel>> models;
  for (const std::string& name : names) {
    view::ModelOptions one = options;
    one.model_dir = (stdfs::path(options.model_dir) / name).string();
    one.name = name;
    if (name == seal::kSealFolder || name.starts_with(".")) continue;
    if (!has_seal(one.model_dir)) {
      hide(runtime, name, "has no seal; run vouchfs ingest on it");
      continue;
    }
    auto model = view::SealedModel::open(std::move(one), runtime);
    if (model)
      models.push_back(std::move(*model));
    else
      hide(runtime, name, model.error().describe());
  }
  if (models.empty()) return fail(ErrorCode::not_found, "holds no seal and no sealed model", options.model_dir, "run: vouchfs ingest " + options.model_dir);
  return view::MountView::of_store(std::move(models), runtime);
}

}  // namespace

Result<std::unique_ptr<view::MountView>> open_view(const view::ModelOptions& options, view::Runtime& runtime) {
  std::error_code failed;
  if (!stdfs::exists(options.model_dir, failed)) return fail(errno_error(failed ? failed.value() : ENOENT, "there is no such model", options.model_dir));
  const bool one_model = options.seal_dir || has_seal(options.model_dir);
  if (!one_model && !options.digest) return open_store(options, runtime);
  VOUCHFS_ASSIGN(auto model, view::SealedModel::open(options, runtime));
  return view::MountView::of_model(std::move(model), runtime);
}

}  // namespace vouchfs::mount_tools
