// status_json.h: the state of a mount as one JSON object (DESIGN section 7), for `vouchfs status --json` and .vouch/status.json.
// Layer:   core/view (5).
// Threads: reads counters and known-bad tables while others write them: a snapshot, not a consistent cut.
// Cost:    every file's state once; known-bad blocks at most kMostKnownBad a model.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "view/mount_view.h"

namespace vouchfs::view {

// Known-bad blocks listed for one model; known_bad_total says how many there are when there are more.
inline constexpr std::size_t kMostKnownBad = 1000;

// Of all models, or of the one with this name; the numbers that follow the models are those of the whole mount.
// cache_hit_ratio: of the tree blocks and neighbours of bad blocks that were needed, the share found verified in memory; null before
// the first. Reads that the kernel answers from its own page cache never reach us and count nowhere.
std::string status_json(const std::vector<std::unique_ptr<SealedModel>>& models, const Runtime& runtime, const MountFacts& facts,
                        const std::optional<std::string>& only_model);

}  // namespace vouchfs::view
