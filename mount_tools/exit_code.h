// exit_code.h: the exit codes of every vouchfs command, frozen: scripts and units rely on them.
// Layer: mount_tools (7). The same table is in docs (TROUBLESHOOTING, man pages) and held by one test in tests/cli.
#pragma once

#include "base/error.h"

namespace vouchfs::mount_tools {

enum class ExitCode : int {
  ok = 0,
  other = 1,              // none of the below
  usage = 2,              // a command line, configuration or digest that cannot be
  corruption = 3,         // bytes that are wrong, a file cut or lost, a seal that does not fit
  incomplete = 4,         // something the model names is absent
  untrusted = 5,          // digest or signature refused
  io = 6,                 // the files behind could not be read or written
  mount = 7,              // mounting, unmounting or FUSE
  all_repaired = 8,       // damage found, all of it repaired
  repair_incomplete = 9,  // damage found, not all of it repaired
  not_found = 10,         // no such model, file or seal
  interrupted = 130,      // SIGINT or SIGTERM
};

constexpr int to_int(ExitCode code) noexcept { return static_cast<int>(code); }
// The one place where kinds of failure become exit codes.
ExitCode exit_code_of(ErrorCode code) noexcept;

}  // namespace vouchfs::mount_tools
