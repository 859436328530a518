// warm_targets.h: which bytes of which files `vouchfs warm` is about.
// Layer:  mount_tools (7).
// Errors: not_found (a path, or a glob that names nothing), mount_failed (a path outside every mount of vouchfs, or in a dead one), bad_format.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "mount_tools/page_cache.h"

namespace vouchfs::mount_tools {

struct WarmFile {
  std::string path;               // as it can be opened: below what the user named
  std::string mount_point;        // of the mount that serves it
  std::vector<ByteRange> ranges;  // in order, apart; none is empty
  std::uint64_t bytes = 0;        // their sum
};

// `paths`: mount points, folders and files in a mount, and globs for them as glob(7); hidden folders of seals (.vouch) are left out of folders.
// `tensors`: globs as fnmatch(3), where '*' also matches '/'; with any only the bytes of tensors that match are wanted, in the files of `paths`
// that hold such, to whole blocks. No file is named twice.
Result<std::vector<WarmFile>> warm_targets(const std::vector<std::string>& paths, const std::vector<std::string>& tensors);

}  // namespace vouchfs::mount_tools
