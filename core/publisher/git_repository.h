// git_repository.h: what HEAD of a Git repository says of the files of a folder in its work tree. Internal to core/publisher.
// Layer:   core/publisher (4). libgit2 stays in the .cpp; a build without it finds no repository.
// Safety:  only objects are read (loose, packed, deltas), each checked against its name by libgit2; no configuration of the user or the system is
//          read, no owner is asked for, no hook, filter or other program is run, no object is written.
// Threads: one caller an object; libgit2's own state is set up once a process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace vouchfs::publisher {

// A tracked regular file below the model.
struct GitFile {
  std::string path;                 // relative to the model
  std::string git_sha1;             // 40 hex digits
  std::uint64_t bytes = 0;          // of the blob
  std::optional<std::string> text;  // of a blob small enough for an LFS pointer
};

class GitRepository {
 public:
  // The repository whose work tree holds the folder (or is it), or null when there is none. Fails: bad_format, io.
  static Result<std::unique_ptr<GitRepository>> around(const std::string& folder);
  ~GitRepository();
  // 40 hex digits of HEAD, or "" when there is no commit yet.
  const std::string& head() const noexcept;
  // Every regular file of HEAD's tree below the folder, in the tree's order. Blobs that are not here (partial clones) are counted in `lacking`.
  Status for_each_file(const std::function<void(GitFile&&)>& take, std::size_t& lacking) const;

 private:
  struct State;
  explicit GitRepository(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace vouchfs::publisher
