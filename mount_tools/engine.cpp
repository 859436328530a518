#include "mount_tools/engine.h"

#include <cstdlib>

namespace vouchfs::mount_tools {

std::shared_ptr<const hash::Sha256Engine> chosen_engine(Output& output) {
  const char* wish = std::getenv("VOUCHFS_HASH");
  const bool wished = wish != nullptr && *wish != '\0';
  hash::EngineChoice choice = hash::choose_engine(wished ? std::optional<std::string_view>(wish) : std::nullopt);
  if (!choice.warning.empty()) output.warning(choice.warning);
  return std::move(choice.engine);
}

}  // namespace vouchfs::mount_tools
