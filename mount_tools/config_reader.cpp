#include "mount_tools/config_reader.h"

#include <algorithm>
#include <cstdlib>

namespace vouchfs::mount_tools {

std::string environment_name(const std::string& option) {
  std::string name = "VOUCHFS_";
  for (const char c : option) name += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

bool CommandConfig::belongs(CLI::ConfigItem& item) const {
  if (item.name == "++" || item.name == "--") return false;  // CLI11's marks for the edges of a section
  if (!item.parents.empty() && std::find(others_.begin(), others_.end(), item.parents.front()) != others_.end()) return false;
  if (item.parents == std::vector<std::string>{command_}) item.parents.clear();
  const char* overriding = std::getenv(environment_name(item.name).c_str());
  return overriding == nullptr || *overriding == '\0';
}

std::vector<CLI::ConfigItem> CommandConfig::from_config(std::istream& input) const {
  std::vector<CLI::ConfigItem> kept;
  for (CLI::ConfigItem& item : CLI::ConfigTOML::from_config(input))
    if (belongs(item)) kept.push_back(std::move(item));
  return kept;
}

}  // namespace vouchfs::mount_tools
