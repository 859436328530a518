// index_writer.h: puts an index beside the shards it is for: whole or not at all, and never over what somebody else put there.
// Layer:  core/view (5).
// Errors: busy (a file is there that must not be replaced without being forced), io.
#pragma once

#include <string>

#include "base/result.h"

namespace vouchfs::view {

struct IndexTarget {
  std::string model_dir;
  std::string path;  // relative: "unet/diffusion_pytorch_model.safetensors.index.json"
  bool force = false;
};

// Whether something may be written there: nothing is there, or an index (`replaces_wrong`: one that was judged wrong and is an index all the
// same), or force. A folder or a device is never replaced.
Status check_replaceable(const IndexTarget& target, bool replaces_wrong);

// Writes `text` beside the target, syncs it, and renames it into place; then the folder is synced. What was there is kept as <name>.orig; when
// that name is taken the call fails, or, forced, does without. Mode 0644 less the umask. Returns whether an original was kept.
Result<bool> write_index(const IndexTarget& target, const std::string& text);

}  // namespace vouchfs::view
