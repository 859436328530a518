// warm_files.h: reads files of a mount so that the kernel's page cache holds them, and counts what it holds.
// Layer:   mount_tools (7).
// Threads: warm_files runs `jobs` of its own and returns when they have ended. WarmProgress may be read meanwhile.
// Cost:    memory of 1 MiB a thread; pages that are in the page cache already are copied, not read again by the mount.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "mount_tools/warm_targets.h"

namespace vouchfs::mount_tools {

struct WarmProgress {
  std::atomic<std::uint64_t> bytes_done{0};  // read or given up
};

// Bytes that could not be read.
struct Unread {
  ByteRange range;
  int sys_errno = 0;
};

// [i]: what of files[i] could not be read, in order, neighbours joined. A range that fails is read again block by block: its good blocks are warmed.
// A file that does not open fails with all its ranges. jobs 0: one thread a core.
// Errors: cancelled.
Result<std::vector<std::vector<Unread>>> warm_files(const std::vector<WarmFile>& files, unsigned jobs, WarmProgress& progress, const CancelFlag& cancel);

// Drops what the page cache holds of the file's ranges and can let go.
Status evict_file(const WarmFile& file);
// Bytes of the file's ranges that the page cache holds. Opens the file, does not read it.
Result<std::uint64_t> resident_bytes(const WarmFile& file);

}  // namespace vouchfs::mount_tools
