#include "mount_tools/exit_code.h"

namespace vouchfs::mount_tools {

ExitCode exit_code_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return ExitCode::usage;
    case ErrorCode::not_found: return ExitCode::not_found;
    case ErrorCode::bad_format:
    case ErrorCode::truncated:
    case ErrorCode::corrupt: return ExitCode::corruption;
    case ErrorCode::untrusted: return ExitCode::untrusted;
    case ErrorCode::incomplete: return ExitCode::incomplete;
    case ErrorCode::io: return ExitCode::io;
    case ErrorCode::mount_failed: return ExitCode::mount;
    case ErrorCode::cancelled: return ExitCode::interrupted;
    case ErrorCode::other:
    case ErrorCode::changed:
    case ErrorCode::busy:
    case ErrorCode::unsupported:
    case ErrorCode::internal: return ExitCode::other;
  }
  return ExitCode::other;
}

}  // namespace vouchfs::mount_tools
