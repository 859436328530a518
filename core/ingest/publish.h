// publish.h: puts a finished seal in place of the older one, so that a kill at any moment leaves one of the two, whole.
// Layer:   core/ingest (5).
// How:     everything a manifest names has its digest in its name, so old and new lie side by side; it is synced before
//          manifest.json is renamed, and only after that is synced goes what the new manifest does not name.
// Threads: one caller, who holds the lock of the SealTarget.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/seal_target.h"
#include "seal/manifest.h"

namespace vouchfs::ingest {

struct NewSeal {
  const seal::Manifest& manifest;
  const std::string& manifest_text;
  const std::string& table_text;
  const std::string& provenance_text;
};

// Called before each step with a word for it; for tests, which end the process there.
using PublishHook = std::function<void(const std::string& step)>;

// Requires the tree of every file larger than a block in work/. Removes work/ at the end.
// Returns what could not be tidied up: one sentence each; the seal is published all the same.
Result<std::vector<std::string>> publish(const SealTarget& target, const NewSeal& seal, const PublishHook& hook = {});

}  // namespace vouchfs::ingest
