// page_cache.h: what the kernel's page cache holds of a file, and taking it out of there.
// Layer:   mount_tools (7).
// Source:  cachestat(2), Linux 6.5; before it mincore(2). Both answer only the file's owner and root (others could watch what somebody reads).
// Errors:  unsupported when the kernel will not tell this user; io.
// Cost:    one system call for a range; with mincore one for each 1 GiB.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace vouchfs::mount_tools {

// Bytes [begin, end) of a file.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t bytes() const noexcept { return end - begin; }
};

// How many bytes of the range lie in the page cache, counted in whole pages and never more than the range has. Does not read the file.
// `shown` is the path for error messages.
Result<std::uint64_t> resident_bytes(int fd, ByteRange range, const std::string& shown);

// Asks the kernel to drop the whole pages of the range. Pages that are mapped or in use stay; see resident_bytes for what did.
Status drop_pages(int fd, ByteRange range, const std::string& shown);

}  // namespace vouchfs::mount_tools
