// tensor_ranges.h: where tensors lie in the files of a mount.
// Layer:  mount_tools (7).
// Errors: not_found (no table, no tensor of that name), bad_format, io.
// Cost:   one table of a model at a time in memory, see seal/tensor_table.h.
#pragma once

#include <string>
#include <vector>

#include "mount_tools/warm_targets.h"

namespace vouchfs::mount_tools {

// Leaves of each file only the blocks that hold bytes of a tensor whose name one of the globs matches, and drops files without one.
// Tables are read from .vouch/tensors.json in the folder of the model, above each file.
Status narrow_to_tensors(std::vector<WarmFile>& files, const std::vector<std::string>& globs);

}  // namespace vouchfs::mount_tools
