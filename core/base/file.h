// file.h: small, complete file operations on descriptors: read all of it, write all of it, sync a folder.
// Layer:  core/base (0).
// Errors: io or not_found with errno and path; truncated or bad_format where a bound is named.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace vouchfs {

// openat(2) with O_CLOEXEC added. dir_fd may be AT_FDCWD. `shown` is the path for error messages.
Result<UniqueFd> open_at(int dir_fd, const std::string& path, int flags, const std::string& shown, unsigned mode = 0644);
// The whole of a regular file. Fails: bad_format when it is larger than limit bytes or no regular file.
Result<std::string> read_whole_file(int dir_fd, const std::string& path, std::uint64_t limit, const std::string& shown);
// Reads at offset until dst is full or the file ends; EINTR is retried. Returns the bytes read.
Result<std::size_t> read_full(int fd, std::uint64_t offset, std::span<std::uint8_t> dst, const std::string& shown);
// Writes all of src at offset.
Status write_full(int fd, std::uint64_t offset, std::span<const std::uint8_t> src, const std::string& shown);
// fsync(2) of a file or folder descriptor.
Status sync_fd(int fd, const std::string& shown);

}  // namespace vouchfs
