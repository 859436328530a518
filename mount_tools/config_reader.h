// config_reader.h: the configuration file as one command sees it.
// Layer:  mount_tools (7).
// Format: TOML as CLI11 reads it. Keys are option names; a key at the top holds for every command, a key in the section
//         of a command ([ingest]) for that command alone. Sections of other commands are skipped, unknown ones are errors.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace vouchfs::mount_tools {

// The variable that gives the default of a long option: "on-known-bad" -> "VOUCHFS_ON_KNOWN_BAD".
std::string environment_name(const std::string& option);

class CommandConfig : public CLI::ConfigTOML {
 public:
  CommandConfig(std::string command, std::vector<std::string> other_commands) : command_(std::move(command)), others_(std::move(other_commands)) {}
  // Items of the file for this command, less those that a VOUCHFS_* variable overrides.
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

 private:
  bool belongs(CLI::ConfigItem& item) const;
  std::string command_;
  std::vector<std::string> others_;
};

}  // namespace vouchfs::mount_tools
