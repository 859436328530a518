// mount_helper.h: vouchfs as mount(8) calls it: `mount.vouchfs SOURCE MOUNTPOINT [-sfnv] [-o OPTIONS]`, and as mount.fuse.vouchfs.
// Layer: mount_tools (7).
#pragma once

#include "mount_tools/output.h"

namespace vouchfs::mount_tools {

// True when argv[0] is one of the two helper names.
bool is_mount_helper_name(const char* argv0);
// Returns the exit code.
int mount_helper_main(int argc, char** argv, Output& output);

}  // namespace vouchfs::mount_tools
