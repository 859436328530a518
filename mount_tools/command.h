// command.h: what a command of vouchfs is, and the table of them all.
// Layer: mount_tools (7). One command a file (cmd_NAME.cpp); each runs in-process with injected output.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "mount_tools/exit_code.h"
#include "mount_tools/output.h"

namespace CLI {
class App;
}

namespace vouchfs::mount_tools {

// Does the work with the options that were parsed. Reports its own errors (failed() below) and says how to exit.
using Run = std::function<ExitCode(Output&)>;

struct Command {
  std::string_view name;
  std::string_view summary;  // one line of `vouchfs --help`
  Run (*add)(CLI::App&);     // adds the command's own options; --json, --quiet, --config and VOUCHFS_* are added for it
};

// Every command, in the order of `vouchfs --help`.
const std::vector<Command>& command_table();

// Reports an error and gives the exit code that belongs to it: `return failed(output, result.error());`
ExitCode failed(Output& output, const Error& error);

// cmd_*.cpp: each gives its Run.
Run add_ingest(CLI::App& app);
Run add_mount(CLI::App& app);
Run add_umount(CLI::App& app);
Run add_verify(CLI::App& app);
Run add_doctor(CLI::App& app);
Run add_status(CLI::App& app);
Run add_warm(CLI::App& app);
Run add_digest(CLI::App& app);
Run add_ls(CLI::App& app);
Run add_index(CLI::App& app);
Run add_version(CLI::App& app);

}  // namespace vouchfs::mount_tools
