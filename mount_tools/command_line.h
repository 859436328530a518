// command_line.h: from arguments to a command that ran: help, global options, configuration file, environment, errors.
// Layer:   mount_tools (7). CLI11 stays in the .cpp files.
// Precedence: the command line, then VOUCHFS_* variables, then the configuration file.
#pragma once

#include <string>
#include <vector>

#include "mount_tools/output.h"

namespace vouchfs::mount_tools {

// `arguments` without the program's own name. Returns the exit code. Never throws, never exits.
int run_command_line(const std::vector<std::string>& arguments, Output& output);

}  // namespace vouchfs::mount_tools
