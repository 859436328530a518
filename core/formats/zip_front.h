// zip_front.h: the members of an archive that has lost its directory, from the front, header after header. Internal to core/formats.
// Layer:  core/formats (2).
// Source: torch's writer puts sizes and CRC-32 into a descriptor behind the content and leaves them 0 in the local header.
// Cost:   a few small reads a member, and at most kMaxScan bytes of a member whose size nobody knows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "formats/byte_reader.h"
#include "formats/zip_directory.h"

namespace vouchfs::formats {

inline constexpr std::uint64_t kMaxScan = 1U << 20;

// How many bytes the content of a member must have, when that is known from elsewhere.
using KnownSize = std::function<Result<std::optional<std::uint64_t>>(const ZipEntry& entry)>;

// Whole members, and the first that is cut with UnexpectedEnd as its problem. A stored member with two sizes has BadLocalHeader as its problem
// and 0 as its begin. Stops at the first place that is no local header.
Result<std::vector<ZipEntry>> read_zip_front(std::uint64_t file_bytes, const ReadAt& read, const KnownSize& known_size);

}  // namespace vouchfs::formats
