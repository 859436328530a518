// hf_cache.h: folders models--ORG--NAME of a Hugging Face cache: their name, their snapshots, their refs.
// Layer:  core/publisher (4).
// Source: huggingface_hub: refs/<name> holds a commit, snapshots/<commit>/ the files.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace vouchfs::publisher {

// A folder of that name which holds snapshots/, refs/ or blobs/.
bool is_hf_model_folder(const std::string& path);
// "models--org--name" -> "org--name".
std::string hf_model_name(const std::string& model_folder);

// The commit whose snapshot is meant: `revision` as a ref or commit; without one the ref main, or the only snapshot there is.
// Fails: not_found (says which refs and snapshots there are), invalid_argument (a revision that is no plain name).
Result<std::string> choose_snapshot(const std::string& model_folder, const std::optional<std::string>& revision);

}  // namespace vouchfs::publisher
