// file_jobs.h: seals many files at once, largest first, and stops all of them at the first failure.
// Layer:   core/ingest (5).
// Threads: starts `jobs` threads and joins them before it returns.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "base/result.h"
#include "ingest/file_sealer.h"

namespace vouchfs::ingest {

using SealOne = std::function<Result<SealedFile>(const ScannedFile& file, std::size_t number)>;

// Results in the order of `files`. Fails: with the first failure; `stop` is set then, for work that looks at it.
Result<std::vector<SealedFile>> seal_all(const std::vector<ScannedFile>& files, unsigned jobs, const SealOne& seal_one, std::atomic<bool>& stop,
                                         std::atomic<std::uint64_t>& files_done);

}  // namespace vouchfs::ingest
