// pin_plan.h: which files of a mount are to be pinned in memory: by name, in order of their paths, as long as the limit lasts.
// Layer:   core/view (5). A pure function of the view.
// Cost:    one walk over the names of the mount.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "view/mount_view.h"
#include "view/pin_progress.h"

namespace vouchfs::view {

struct PinRequest {
  std::vector<std::string> globs;  // a file is wanted when one of them matches its path in the view; `*` matches slashes as well
  std::uint64_t limit_bytes = 0;   // of all pinned files together, in whole pages
};

struct PinItem {
  const Node* node = nullptr;  // a sealed_file with at least one byte; belongs to the view
  std::string path;            // in the view, without a slash in front
  // A second id for the same file, which no node has. A reader that finds this one reads pinned memory, and one that found node->id before
  // goes on as before. A function of the seal, like every id.
  std::uint64_t twin = 0;
};

struct PinPlan {
  std::vector<PinItem> items;        // sorted by path
  std::uint64_t bytes = 0;           // of the items
  std::uint64_t matching_files = 0;  // files that are wanted, those the limit leaves out included
};

// A file that does not fit into what is left of the limit is passed over, and smaller ones after it may still fit.
PinPlan plan_pins(const MountView& view, const PinRequest& request);

// How the pinning begins. `obstacle`: why the system does not allow it, or empty.
PinFacts pin_outlook(const PinPlan& plan, const PinRequest& request, const std::string& obstacle);

}  // namespace vouchfs::view
