#include "mount_tools/warm_targets.h"

#include <glob.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <set>

#include "fs/mount_table.h"
#include "mount_tools/tensor_ranges.h"

namespace vouchfs::mount_tools {
namespace {

namespace stdfs = std::filesystem;

constexpr const char* kSealFolder = ".vouch";

Error error_at(int failed_with, const char* message, const std::string& path) {
  if (failed_with != ENOTCONN) return errno_error(failed_with, message, path);
  return make_error(ErrorCode::mount_failed, "the daemon of this mount is gone", path, "end it with: vouchfs umount");
}

Result<struct stat> stat_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return fail(error_at(errno, "cannot be found", path));
  return info;
}

bool lies_below(const std::string& path, const std::string& folder) { return path == folder || path.starts_with(folder == "/" ? folder : folder + "/"); }

class Collector {
 public:
  Status add_word(const std::string& word) {
    struct stat info {};
    const bool plain = ::lstat(word.c_str(), &info) == 0 || word.find_first_of("*?[") == std::string::npos;
    return plain ? add_path(word) : add_glob(word);
  }

  std::vector<WarmFile> files;

 private:
  Status add_glob(const std::string& pattern) {
    glob_t found{};
    const int verdict = ::glob(pattern.c_str(), 0, nullptr, &found);
    const std::unique_ptr<glob_t, void (*)(glob_t*)> owner(&found, ::globfree);
    if (verdict != 0) return fail(ErrorCode::not_found, "no file or folder matches", pattern);
    for (std::size_t i = 0; i < found.gl_pathc; ++i) VOUCHFS_TRY(add_path(found.gl_pathv[i]));
    return {};
  }

  Status add_path(const std::string& path) {
    VOUCHFS_ASSIGN(const struct stat info, stat_of(path));
    VOUCHFS_ASSIGN(const std::string mount_point, mount_of(path, info));
    return S_ISDIR(info.st_mode) ? add_folder(path, mount_point) : add_file(path, info, mount_point);
  }

  Status add_folder(const std::string& folder, const std::string& mount_point) {
    std::vector<std::string> found;
    std::error_code failed;
    stdfs::recursive_directory_iterator at(folder, failed);
    for (; !failed && at != stdfs::recursive_directory_iterator(); at.increment(failed)) {
      if (at->path().filename() == kSealFolder)
        at.disable_recursion_pending();
      else if (at->is_regular_file(failed))
        found.push_back(at->path().string());
    }
    if (failed) return fail(error_at(failed.value(), "cannot be listed", folder));
    std::sort(found.begin(), found.end());
    for (const std::string& path : found) {
      VOUCHFS_ASSIGN(const struct stat info, stat_of(path));
      VOUCHFS_TRY(add_file(path, info, mount_point));
    }
    return {};
  }

  Status add_file(const std::string& path, const struct stat& info, const std::string& mount_point) {
    if (!seen_.insert({info.st_dev, info.st_ino}).second) return {};
    WarmFile file{path, mount_point, {}, static_cast<std::uint64_t>(info.st_size)};
    if (file.bytes != 0) file.ranges = {{0, file.bytes}};
    files.push_back(std::move(file));
    return {};
  }

  // By device, so that bind mounts of a mount, as containers have them, count too.
  Result<std::string> mount_of(const std::string& path, const struct stat& info) {
    const std::string device = std::to_string(::major(info.st_dev)) + ":" + std::to_string(::minor(info.st_dev));
    std::error_code failed;
    const std::string whole = stdfs::canonical(path, failed).string();
    const fs::MountRow* best = nullptr;
    for (const fs::MountRow& row : mounts_) {
      if (row.device != device || row.type != "fuse.vouchfs") continue;
      if (best == nullptr || (lies_below(whole, row.mount_point) && row.mount_point.size() > best->mount_point.size())) best = &row;
    }
    if (best == nullptr) return fail(ErrorCode::mount_failed, "lies in no mount of vouchfs", path, "see the mounts with: findmnt -t fuse.vouchfs");
    return best->mount_point;
  }

  const std::vector<fs::MountRow> mounts_ = fs::read_mount_table();
  std::set<std::pair<dev_t, ino_t>> seen_;
};

}  // namespace

Result<std::vector<WarmFile>> warm_targets(const std::vector<std::string>& paths, const std::vector<std::string>& tensors) {
  Collector collector;
  for (const std::string& path : paths) VOUCHFS_TRY(collector.add_word(path));
  if (!tensors.empty()) VOUCHFS_TRY(narrow_to_tensors(collector.files, tensors));
  return std::move(collector.files);
}

}  // namespace vouchfs::mount_tools
