// verify_targets.h: what `verify` has to check: one model, the models of a store, or the sources behind a mount.
// Layer: mount_tools (7).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "view/sealed_model.h"

namespace vouchfs::mount_tools {

// `path`: a model (a folder, a place in a Hugging Face cache, ollama:NAME:TAG), a store (a folder of sealed models) or a mount point. For a mount point the
// sources and seals that it serves are named by its .vouch/status.json, and pinned to the digests that it serves. `options` gives seal_dir and digest for one
// model. `revision`: of a models--ORG--NAME folder.
Result<std::vector<view::ModelOptions>> verify_targets(const std::string& path, const view::ModelOptions& options, const std::optional<std::string>& revision);

}  // namespace vouchfs::mount_tools
