// store_paths.h: which kind of cache or store a path is. Internal to core/doctor.
// Layer: core/doctor (5). Looks at names only.
#pragma once

#include <string>
#include <vector>

#include "publisher/ollama_store.h"

namespace vouchfs::doctor {

enum class StoreKind {
  none,
  hub_model,  // models--org--name
  hub,        // a folder of such folders: HF_HUB_CACHE, or below HF_HOME
  ollama,     // manifests/ and blobs/
};
struct StorePath {
  StoreKind kind = StoreKind::none;
  std::string root;  // the folder that is the cache or store: the path itself or a folder below it
};
StorePath store_path(const std::string& argument);

// Folders models--* of a hub, with the hub's path, sorted.
std::vector<std::string> hub_folders(const std::string& hub);

}  // namespace vouchfs::doctor
