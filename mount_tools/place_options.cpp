#include "mount_tools/place_options.h"

namespace vouchfs::mount_tools {

void point_at(const publisher::Place& place, view::ModelOptions& options) {
  options.model_dir = place.model_dir;
  if (place.kind != publisher::PlaceKind::folder && options.name.empty()) options.name = place.name;
  if (place.kind != publisher::PlaceKind::ollama) return;
  options.by_digest = true;
  if (!options.seal_dir) options.seal_dir = place.default_seal_dir;
}

std::string seal_of(const publisher::Place& place, const std::string& wanted) { return wanted.empty() ? place.default_seal_dir : wanted; }

}  // namespace vouchfs::mount_tools
