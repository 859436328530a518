#include "ingest/seal_target.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/bytes.h"
#include "base/file.h"
#include "seal/seal_directory.h"

namespace vouchfs::ingest {
namespace {

constexpr int kLockTries = 8;

Result<bool> make_seal_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0) return true;
  if (errno == EEXIST) return false;
  const int problem = errno;
  Error error = errno_error(problem, "cannot make the seal directory", path);
  if (problem == ENOENT) error.advice = "make its parent folder first";
  return fail(with_write_advice(std::move(error)));
}

// A directory that was removed between open and lock must not be worked in.
bool is_still_there(int fd, const std::string& path) {
  struct stat held {};
  struct stat there {};
  return ::fstat(fd, &held) == 0 && ::stat(path.c_str(), &there) == 0 && held.st_ino == there.st_ino && held.st_dev == there.st_dev;
}

Status lock(int fd, const std::string& path) {
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return {};
  if (errno == EWOULDBLOCK) return fail(ErrorCode::busy, "another ingest is at work on this seal", path, "wait until it is done");
  return {};  // network filesystems may not lock folders; publishing is atomic all the same
}

}  // namespace

Error with_write_advice(Error error) {
  if (!error.advice.empty()) return error;
  if (is_no_room(error)) error.advice = "free some space, or put the seal on another filesystem with --seal DIR";
  if (error.sys_errno == EROFS || error.sys_errno == EACCES || error.sys_errno == EPERM)
    error.advice = "put the seal where you may write with --seal DIR, and give the same DIR to mount";
  return error;
}

bool is_no_room(const Error& error) { return error.sys_errno == ENOSPC || error.sys_errno == EDQUOT; }

Result<SealTarget> SealTarget::open(const std::string& path, std::uint64_t needed_bytes) {
  for (int i = 0; i < kLockTries; ++i) {
    VOUCHFS_ASSIGN(const bool made, make_seal_folder(path));
    auto fd = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, path);
    if (!fd && fd.error().sys_errno == ENOENT) continue;
    if (!fd) return fail(std::move(fd).error());
    VOUCHFS_TRY(lock(fd->get(), path));
    if (!is_still_there(fd->get(), path)) continue;
    SealTarget target(path, std::move(*fd), made);
    Status ready = target.check_room(needed_bytes);
    if (ready) ready = make_folder(target.fd(), seal::kWorkFolder, target.shown(seal::kWorkFolder));
    if (ready) return target;
    target.abandon(false);
    return fail(with_write_advice(std::move(ready).error()));
  }
  return fail(ErrorCode::busy, "the seal directory is made and removed again and again", path, "see what else works on it");
}

Status SealTarget::check_room(std::uint64_t needed_bytes) const {
  struct statvfs info {};
  if (::fstatvfs(fd_.get(), &info) != 0 || info.f_blocks == 0) return {};  // a filesystem that does not say
  const std::uint64_t free = static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
  if (free >= needed_bytes) return {};
  return fail(errno_error(ENOSPC, "the seal needs about " + format_bytes(needed_bytes) + ", but only " + format_bytes(free) + " are free", path_));
}

void SealTarget::abandon(bool forget_work) const {
  if (forget_work) [[maybe_unused]] const Status tried = remove_folder(fd_.get(), seal::kWorkFolder, path_);
  // rmdir(2) takes away only what is empty.
  ::unlinkat(fd_.get(), seal::kWorkFolder, AT_REMOVEDIR);
  if (!made_) return;
  ::unlinkat(fd_.get(), seal::kTreesFolder, AT_REMOVEDIR);
  ::unlinkat(fd_.get(), seal::kTablesFolder, AT_REMOVEDIR);
  ::rmdir(path_.c_str());
}

Status make_folder(int dir_fd, const std::string& name, const std::string& shown) {
  if (::mkdirat(dir_fd, name.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return fail(errno_error(errno, "cannot make the folder", shown));
}

Result<std::vector<std::string>> list_folder(int dir_fd, const std::string& name, const std::string& shown) {
  std::vector<std::string> names;
  auto fd = open_at(dir_fd, name, O_RDONLY | O_DIRECTORY, shown);
  if (!fd && fd.error().sys_errno == ENOENT) return names;
  if (!fd) return fail(std::move(fd).error());
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd->get()), ::closedir);
  if (!folder) return fail(errno_error(errno, "cannot list", shown));
  fd->release();
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string entry_name = entry->d_name;
    if (entry_name != "." && entry_name != "..") names.push_back(entry_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Status remove_folder(int dir_fd, const std::string& name, const std::string& shown) {
  VOUCHFS_ASSIGN(const std::vector<std::string> names, list_folder(dir_fd, name, shown));
  for (const std::string& file : names)
    if (::unlinkat(dir_fd, (name + "/" + file).c_str(), 0) != 0 && errno != ENOENT) return fail(errno_error(errno, "cannot remove", shown + "/" + file));
  if (::unlinkat(dir_fd, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) return fail(errno_error(errno, "cannot remove", shown));
  return {};
}

Status write_synced(int dir_fd, const std::string& name, std::string_view content, const std::string& shown) {
  VOUCHFS_ASSIGN(const UniqueFd fd, open_at(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC, shown));
  VOUCHFS_TRY(write_full(fd.get(), 0, {reinterpret_cast<const std::uint8_t*>(content.data()), content.size()}, shown));
  return sync_fd(fd.get(), shown);
}

}  // namespace vouchfs::ingest
