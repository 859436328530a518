// deep.h: the checks that read every byte once: digests, CRCs, zero tensors, NaN and Inf.
// Layer:   core/doctor (5).
// Threads: files are read by `jobs` threads of its own.
// Cost:    one read of every byte; memory: a few MiB a thread.
#pragma once

#include <atomic>
#include <memory>

#include "base/cancel.h"
#include "doctor/checks.h"
#include "hash/sha256.h"

namespace vouchfs::doctor {

struct DeepProgress {
  std::atomic<std::uint64_t> bytes_total{0};
  std::atomic<std::uint64_t> bytes_done{0};
};

// Adds findings in order of files, whatever the order of reading. Fails: cancelled only; a file that cannot be read is a finding.
Status deep_checks(const ModelFacts& model, unsigned jobs, const std::shared_ptr<const hash::Sha256Engine>& engine, DeepProgress& progress, const CancelFlag& cancel,
                   Findings& findings);

}  // namespace vouchfs::doctor
