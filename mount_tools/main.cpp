// The vouchfs command; called mount.vouchfs or mount.fuse.vouchfs it is the helper of mount(8).
#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "mount_tools/command_line.h"
#ifdef VOUCHFS_WITH_MOUNT
#include "mount_tools/mount_helper.h"
#endif

int main(int argc, char** argv) {
  using namespace vouchfs::mount_tools;
  Output output(std::cout, std::cerr, ::isatty(STDERR_FILENO) == 1);
#ifdef VOUCHFS_WITH_MOUNT
  if (argc > 0 && is_mount_helper_name(argv[0])) return mount_helper_main(argc, argv, output);
#endif
  return run_command_line({argv + (argc > 0 ? 1 : 0), argv + argc}, output);
}
