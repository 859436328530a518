#include "mount_tools/command_line.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <ostream>

#include "mount_tools/command.h"
#include "mount_tools/config_reader.h"

namespace vouchfs::mount_tools {
namespace {

constexpr const char* kHelpHead =
    "vouchfs serves verified views of model directories: hash once at ingest, verify only what is read.\n\n"
    "Usage: vouchfs COMMAND [OPTIONS]\n\nCommands:\n";
constexpr const char* kHelpTail =
    "\nEvery command takes --json, --quiet, --config FILE and --help; `vouchfs COMMAND --help` explains its own options.\n"
    "VOUCHFS_* variables give defaults for options (VOUCHFS_JOBS for --jobs); a flag wins.\n"
    "Exit codes: 0 ok, 1 other error, 2 usage, 3 corruption, 4 incomplete model, 5 digest or signature refused,\n"
    "6 backing I/O error, 7 mount problem, 8 damage all repaired, 9 repair incomplete, 10 not found, 130 interrupted.\n";

void print_help(std::ostream& to) {
  to << kHelpHead;
  for (const Command& command : command_table()) to << "  " << command.name << std::string(12 - command.name.size(), ' ') << command.summary << '\n';
  to << kHelpTail;
}

int misuse(Output& output, const std::string& message, const std::string& advice) {
  output.error(make_error(ErrorCode::invalid_argument, message, {}, advice));
  return to_int(ExitCode::usage);
}

struct CommonOptions {
  bool json = false;
  bool quiet = false;
};

void add_common(CLI::App& app, const Command& command, CommonOptions& common) {
  app.add_flag("--json", common.json, "JSON lines on stdout instead of text");
  app.add_flag("--quiet,-q", common.quiet, "no progress and no notes; warnings and errors stay");
  std::vector<std::string> others;
  for (const Command& other : command_table())
    if (other.name != command.name) others.emplace_back(other.name);
  const char* config = std::getenv("VOUCHFS_CONFIG");
  const bool wanted = config != nullptr && *config != '\0';
  app.set_config("--config", wanted ? config : "", "TOML file with defaults for options", wanted)->type_name("FILE");
  app.allow_config_extras(CLI::config_extras_mode::error);  // a misspelt "digest" that is passed over would mount unpinned
  app.config_formatter(std::make_shared<CommandConfig>(std::string(command.name), std::move(others)));
}

void add_environment(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string name = option->get_lnames().empty() ? "" : option->get_lnames().front();
    const bool fixed = name.empty() || name == "help" || name == "config" || !option->get_envname().empty();
    if (!fixed) option->envname(environment_name(name));
  }
}

ExitCode run_guarded(const Run& run, Output& output) {
  try {
    return run(output);
  } catch (const std::bad_alloc&) {
    return failed(output, make_error(ErrorCode::other, "out of memory"));
  } catch (const std::exception& problem) {
    return failed(output, make_error(ErrorCode::internal, problem.what(), {}, "this is a bug of vouchfs; please report it"));
  }
}

// CLI11 wants the arguments last one first.
std::vector<std::string> reversed_rest(const std::vector<std::string>& arguments) { return {arguments.rbegin(), arguments.rend() - 1}; }

int run_one(const Command& command, const std::vector<std::string>& arguments, Output& output) {
  CLI::App app{std::string(command.summary), "vouchfs " + std::string(command.name)};
  const Run run = command.add(app);
  CommonOptions common;
  add_common(app, command, common);
  add_environment(app);
  try {
    app.parse(reversed_rest(arguments));
  } catch (const CLI::CallForHelp&) {
    output.out() << app.help();
    return to_int(ExitCode::ok);
  } catch (const CLI::ParseError& problem) {
    return misuse(output, problem.what(), "see `" + app.get_name() + " --help`");
  }
  output.set_mode(common.json, common.quiet);
  return to_int(run_guarded(run, output));
}

int dispatch(const std::vector<std::string>& arguments, Output& output) {
  if (arguments.empty()) {
    print_help(output.err());
    return to_int(ExitCode::usage);
  }
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    print_help(output.out());
    return to_int(ExitCode::ok);
  }
  const std::string wanted = first == "--version" ? "version" : first;
  const auto& table = command_table();
  const auto found = std::find_if(table.begin(), table.end(), [&](const Command& command) { return command.name == wanted; });
  if (found == table.end()) return misuse(output, "there is no command '" + first + "'", "see `vouchfs --help`");
  return run_one(*found, arguments, output);
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments, Output& output) {
  // An error of the command line itself must come as JSON too, before the line is understood.
  output.set_mode(std::find(arguments.begin(), arguments.end(), "--json") != arguments.end(), false);
  const int code = dispatch(arguments, output);
  if (output.flush() || code != to_int(ExitCode::ok)) return code;
  output.err() << "vouchfs: cannot write to standard output\n";
  return to_int(ExitCode::other);
}

}  // namespace vouchfs::mount_tools
