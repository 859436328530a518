#include "fs/errno_map.h"

#include <cerrno>

namespace vouchfs::fs {

int to_errno(const Error& error) noexcept {
  switch (error.code) {
    case ErrorCode::not_found: return ENOENT;
    case ErrorCode::invalid_argument: return EINVAL;
    case ErrorCode::unsupported: return EOPNOTSUPP;
    case ErrorCode::cancelled: return EINTR;
    default: return EIO;
  }
}

}  // namespace vouchfs::fs
