// source_root.h: a directory that files are read from, and how their paths are resolved in it.
// Layer:   core/source (2). Uses base.
// Owns:    a descriptor of the directory, taken when it was opened: a mount over the directory does not hide the files from us.
// Threads: const after construction.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace vouchfs::source {

class SourceRoot {
 public:
  // resolve_again: when a file is not found under the directory first opened (because the directory was replaced), try the path
  // anew. Must be false when a FUSE mount of this very process covers the path: resolving it would wait for ourselves.
  static Result<std::shared_ptr<const SourceRoot>> open(const std::string& path, bool resolve_again);

  const std::string& path() const noexcept { return path_; }
  // Whether there is anything of this name now.
  bool holds(const std::string& relative) const noexcept;
  // Opens a regular file below the root for reading, links followed; never blocks on a fifo. `flags` is added to O_RDONLY.
  // Fails: not_found, io (also for what is no regular file: EISDIR or EINVAL).
  Result<UniqueFd> open_file(const std::string& relative, int flags) const;

 private:
  SourceRoot(std::string path, UniqueFd directory, bool resolve_again) noexcept
      : path_(std::move(path)), directory_(std::move(directory)), resolve_again_(resolve_again) {}
  std::string path_;
  UniqueFd directory_;
  bool resolve_again_;
};

}  // namespace vouchfs::source
