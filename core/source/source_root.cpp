#include "source/source_root.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"

namespace vouchfs::source {

Result<std::shared_ptr<const SourceRoot>> SourceRoot::open(const std::string& path, bool resolve_again) {
  VOUCHFS_ASSIGN(UniqueFd directory, open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, path));
  return std::shared_ptr<const SourceRoot>(new SourceRoot(path, std::move(directory), resolve_again));
}

bool SourceRoot::holds(const std::string& relative) const noexcept { return ::faccessat(directory_.get(), relative.c_str(), F_OK, 0) == 0; }

Result<UniqueFd> SourceRoot::open_file(const std::string& relative, int flags) const {
  const int all_flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | flags;
  auto fd = open_at(directory_.get(), relative, all_flags, relative);
  const bool look_again = !fd && resolve_again_ && (fd.error().code == ErrorCode::not_found || fd.error().sys_errno == ESTALE);
  if (look_again) fd = open_at(AT_FDCWD, path_ + "/" + relative, all_flags, relative);
  if (!fd) return fd;
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return fail(errno_error(errno, "cannot stat", relative));
  if (!S_ISREG(info.st_mode)) return fail(errno_error(S_ISDIR(info.st_mode) ? EISDIR : EINVAL, "is no regular file any more", relative));
  return fd;
}

}  // namespace vouchfs::source
