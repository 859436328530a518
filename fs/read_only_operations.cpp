// The mount is read-only, so the kernel refuses writes before they come here, unless somebody remounts it read-write.
#include <cerrno>

#include "fs/operations.h"

namespace vouchfs::fs {
namespace {

template <class... Arguments>
void refuse(fuse_req_t request, Arguments...) {
  fuse_reply_err(request, EROFS);
}

}  // namespace

void add_read_only_operations(fuse_lowlevel_ops& ops) {
  ops.setattr = refuse;
  ops.mknod = refuse;
  ops.mkdir = refuse;
  ops.unlink = refuse;
  ops.rmdir = refuse;
  ops.symlink = refuse;
  ops.rename = refuse;
  ops.link = refuse;
  ops.write = refuse;
  ops.create = refuse;
  ops.setxattr = refuse;
  ops.removexattr = refuse;
  ops.fallocate = refuse;
  ops.copy_file_range = refuse;
}

}  // namespace vouchfs::fs
