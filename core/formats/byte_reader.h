// byte_reader.h: how a parser asks for bytes: at a place, a bounded amount. It never sees a path or a descriptor.
// Layer: core/formats (2).
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"

namespace vouchfs::formats {

// Fills dst from offset; fewer bytes only at the end of the file.
using ReadAt = std::function<Result<std::size_t>(std::uint64_t offset, std::span<std::uint8_t> dst)>;

}  // namespace vouchfs::formats
