#include "fs/attributes.h"

#include <unistd.h>

#include "base/units.h"

namespace vouchfs::fs {

struct stat to_stat(const view::Node& node) {
  const bool folder = node.kind == view::NodeKind::folder;
  struct stat out {};
  out.st_ino = node.id;
  out.st_mode = folder ? (S_IFDIR | 0555) : (S_IFREG | 0444);
  out.st_nlink = folder ? static_cast<nlink_t>(2 + node.subfolders) : 1;
  out.st_uid = ::getuid();
  out.st_gid = ::getgid();
  out.st_size = static_cast<off_t>(node.bytes);
  out.st_blksize = static_cast<blksize_t>(kBlockBytes);  // llama.cpp takes this for its alignment of direct reads
  out.st_blocks = static_cast<blkcnt_t>((node.bytes + 511) / 512);
  out.st_atim.tv_sec = out.st_mtim.tv_sec = out.st_ctim.tv_sec = node.mtime_seconds;
  return out;
}

}  // namespace vouchfs::fs
