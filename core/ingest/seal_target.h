// seal_target.h: the seal directory as ingest holds it: made when it was absent, locked against a second ingest, with room enough.
// Layer:   core/ingest (5).
// Owns:    a descriptor of the directory with an exclusive flock(2), and unfinished folders it made.
// Errors:  busy (another ingest), not_found (no parent folder), io with advice (read-only, no rights, full).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace vouchfs::ingest {

class SealTarget {
 public:
  // Opens or makes the directory and its work/ folder. `needed_bytes`: what the seal will take, at most; refused early when it is not free.
  static Result<SealTarget> open(const std::string& path, std::uint64_t needed_bytes);
  SealTarget(SealTarget&&) = default;
  SealTarget& operator=(SealTarget&&) = delete;

  int fd() const noexcept { return fd_.get(); }
  const std::string& path() const noexcept { return path_; }
  std::string shown(const std::string& name) const { return path_ + "/" + name; }

  // After a failure: takes away what is empty, and the whole of work/ when `forget_work`. Never touches a published seal.
  void abandon(bool forget_work) const;

 private:
  SealTarget(std::string path, UniqueFd fd, bool made) noexcept : path_(std::move(path)), fd_(std::move(fd)), made_(made) {}
  Status check_room(std::uint64_t needed_bytes) const;
  std::string path_;
  UniqueFd fd_;
  bool made_;
};

// The same error with what to do when it says that there is no room, or no right to write.
Error with_write_advice(Error error);
// True when it is of no use to keep unfinished work: there is no room for it.
bool is_no_room(const Error& error);

// Makes a folder below dir_fd; one that is there already is fine.
Status make_folder(int dir_fd, const std::string& name, const std::string& shown);
// Removes a folder below dir_fd with the files in it (one level). An absent folder is fine.
Status remove_folder(int dir_fd, const std::string& name, const std::string& shown);
// Names in a folder below dir_fd, sorted; empty when there is no such folder.
Result<std::vector<std::string>> list_folder(int dir_fd, const std::string& name, const std::string& shown);
// A new file with this content, on disk when this returns.
Status write_synced(int dir_fd, const std::string& name, std::string_view content, const std::string& shown);

}  // namespace vouchfs::ingest
