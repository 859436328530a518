// operations.h: the FUSE operations, one short function each: unpack, call the view, map, reply. No hashing, parsing or policy here.
// Layer: fs (6).
#pragma once

#include <fuse_lowlevel.h>

namespace vouchfs::fs {

// The table for fuse_session_new; its user data is a Context*.
const fuse_lowlevel_ops& operations();
// Adds a handler that answers EROFS for every operation that would change something.
void add_read_only_operations(fuse_lowlevel_ops& ops);

}  // namespace vouchfs::fs
