#include "view/index_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/file.h"
#include "formats/shard_index.h"

namespace vouchfs::view {
namespace {

std::string full(const IndexTarget& target) { return target.model_dir + "/" + target.path; }

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// An index has a weight map, however wrong. A web page or a pointer under its name is somebody's, not ours to throw away.
bool is_an_index(const std::string& path) {
  const auto text = read_whole_file(AT_FDCWD, path, formats::kMaxIndexBytes, path);
  return text && !formats::parse_index(*text).weight_map.empty();
}

// A new file beside the target that no other run has, removed again unless it is renamed.
class Part {
 public:
  static Result<Part> create(const std::string& target) {
    Part part;
    part.path_ = target + ".vouch-" + std::to_string(::getpid()) + ".tmp";
    ::unlink(part.path_.c_str());  // of a killed run with our id
    VOUCHFS_ASSIGN(part.fd_, open_at(AT_FDCWD, part.path_, O_WRONLY | O_CREAT | O_EXCL, part.path_));
    return part;
  }
  Part(Part&& other) noexcept : path_(std::move(other.path_)), fd_(std::move(other.fd_)) { other.path_.clear(); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  Part& operator=(Part&&) = delete;
  ~Part() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  Status fill(const std::string& text) {
    VOUCHFS_TRY(write_full(fd_.get(), 0, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, path_));
    return sync_fd(fd_.get(), path_);
  }
  Status rename_to(const std::string& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) return fail(errno_error(errno, "cannot put the index into place", target));
    path_.clear();
    return {};
  }

 private:
  Part() = default;
  std::string path_;
  UniqueFd fd_;
};

// A second name for what is there, so that it is never gone in between.
Result<bool> keep_original(const std::string& path, bool force) {
  if (::link(path.c_str(), (path + ".orig").c_str()) == 0) return true;
  if (errno == ENOENT || (errno == EEXIST && force)) return false;
  if (errno == EEXIST)
    return fail(ErrorCode::busy, "is there already, so what is there now could not be kept", path + ".orig", "move it away, or give --force");
  return fail(errno_error(errno, "cannot keep what is there under another name", path + ".orig", "rename it by hand, or write the index somewhere else"));
}

Status sync_folder(const std::string& path) {
  VOUCHFS_ASSIGN(const UniqueFd folder, open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, path));
  return sync_fd(folder.get(), path);
}

}  // namespace

Status check_replaceable(const IndexTarget& target, bool replaces_wrong) {
  const std::string path = full(target);
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return errno == ENOENT ? Status{} : fail(errno_error(errno, "cannot look at", path));
  if (S_ISDIR(info.st_mode) || !(S_ISREG(info.st_mode) || S_ISLNK(info.st_mode))) return fail(ErrorCode::busy, "is there and is no file", path, "move it away");
  if (target.force || (replaces_wrong && is_an_index(path))) return {};
  return fail(ErrorCode::busy, replaces_wrong ? "is there and is no index" : "is there already, and is not what would be written", path,
              "look at it, then move it away or give --force; it is kept as " + path.substr(path.rfind('/') + 1) + ".orig");
}

Result<bool> write_index(const IndexTarget& target, const std::string& text) {
  const std::string path = full(target);
  VOUCHFS_ASSIGN(Part part, Part::create(path));
  VOUCHFS_TRY(part.fill(text));
  VOUCHFS_ASSIGN(const bool kept, keep_original(path, target.force));
  VOUCHFS_TRY(part.rename_to(path));
  VOUCHFS_TRY(sync_folder(folder_of(path)));
  return kept;
}

}  // namespace vouchfs::view
