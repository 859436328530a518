// model_check.h: reads and checks every byte of a sealed model on all cores: `vouchfs verify`.
// Layer:   core/view (5).
// Owns:    nothing; borrows the model.
// Threads: starts `jobs` threads and joins them before it returns. CheckProgress may be read meanwhile.
// Errors:  cancelled. What is wrong with the model is not an Error but the answer.
// Cost:    every byte read and hashed once; a buffer of 2 MiB a thread. A lost file costs one look.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/rate_limit.h"
#include "base/result.h"
#include "verify/verified_file.h"
#include "view/sealed_model.h"

namespace vouchfs::view {

struct CheckProgress {
  std::atomic<std::uint64_t> bytes_total{0};
  std::atomic<std::uint64_t> bytes_done{0};
};

// Neighbouring bad blocks of one file and one kind.
struct BadRun {
  std::string file;
  std::uint64_t block = 0;   // the first
  std::uint64_t blocks = 0;  // 0 only for a lost or unreadable file of no bytes
  std::uint64_t offset = 0;  // bytes from the start of the file
  std::uint64_t length = 0;  // bytes, cut at the end of the file
  verify::BadKind kind = verify::BadKind::corrupt;
  bool lost = false;                 // the whole file is not there
  std::vector<std::string> tensors;  // that the run cuts, in order of place
  std::string detail;                // of the first block: what came instead
};

struct ModelCheck {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  std::uint64_t corrupt_blocks = 0;  // of any kind; a lost or cut file counts with every block that is not there
  std::uint64_t transient = 0;       // blocks that were right only when read again past the cache
  std::vector<BadRun> runs;          // sorted by file and block
};

// "corrupt", "truncated", "unreadable", "tree": for records and messages.
const char* to_string(verify::BadKind kind) noexcept;

// jobs 0: one a core. rate, when given, is shared by all threads.
Result<ModelCheck> check_model(const SealedModel& model, unsigned jobs, CheckProgress& progress, const CancelFlag& cancel, RateLimit* rate = nullptr);

}  // namespace vouchfs::view
