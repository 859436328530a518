// errno_map.h: the one place where an Error becomes an errno for the kernel.
// Layer: fs (6).
#pragma once

#include "base/error.h"

namespace vouchfs::fs {

// not_found ENOENT, invalid_argument EINVAL, unsupported EOPNOTSUPP, cancelled EINTR; whatever is wrong with bytes or their source is EIO:
// a reader must never take a damaged file for an absent or an empty one.
int to_errno(const Error& error) noexcept;

}  // namespace vouchfs::fs
