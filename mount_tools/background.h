// background.h: puts work into a process of its own that outlives the command, and reports to the caller how it started.
// Layer: mount_tools (7).
#pragma once

#include <functional>

#include "mount_tools/exit_code.h"
#include "mount_tools/output.h"

namespace vouchfs::mount_tools {

// Forks. The child runs `work` in a new session in "/"; when work calls its argument the child is ready: it lets go of the caller's
// standard streams and logs to syslog, and the parent goes on. A child that ends before that says why on the caller's stderr, and its
// exit code is the parent's. Requires: no thread was started yet.
// Returns in both processes: in the child what work returned, in the parent ok or the child's code. `is_child` tells which.
ExitCode run_in_background(Output& output, const std::function<ExitCode(const std::function<void()>& ready)>& work, bool& is_child);

}  // namespace vouchfs::mount_tools
