// sealed_memory.h: a file in memory (memfd) that is written once and that nobody, not even this process, can change afterwards.
// Layer:   fs (6).
// Threads: no state; one writer at a time.
// Errors:  io with errno; ENOMEM and ENOSPC when there is no memory for it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace vouchfs::fs {

// An empty one. The name is for people who look at /proc; longer ones are cut.
Result<UniqueFd> make_memory(const std::string& name);
// Ends all writing, growing and shrinking, for good. Fails: internal when it does not hold exactly `bytes`: a hole would read as zeros.
Status seal_memory(int memory, std::uint64_t bytes);

}  // namespace vouchfs::fs
