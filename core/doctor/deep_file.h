// deep_file.h: one read of one file, and what the watchers of its bytes found. Internal to core/doctor.
// Layer:   core/doctor (5).
// Threads: one thread a file.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/cancel.h"
#include "doctor/deep.h"

namespace vouchfs::doctor {

struct DeepContext {
  const ModelFacts& model;
  std::shared_ptr<const hash::Sha256Engine> engine;
  DeepProgress& progress;
  const CancelFlag& cancel;
};

// `has_error`: something is known to be wrong with the file already; then its zeros would only say the same again, and so would its digest unless the size is
// right. `buffer`: what is read into; a multiple of 4096 bytes. Fails: cancelled. A file that cannot be read is a finding.
Result<std::vector<Finding>> deep_file(const DeepContext& context, const FileFacts& file, bool has_error, std::span<std::uint8_t> buffer);

}  // namespace vouchfs::doctor
