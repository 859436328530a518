#include "base/error.h"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace vouchfs {

const char* to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::other: return "other";
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::bad_format: return "bad_format";
    case ErrorCode::truncated: return "truncated";
    case ErrorCode::corrupt: return "corrupt";
    case ErrorCode::untrusted: return "untrusted";
    case ErrorCode::incomplete: return "incomplete";
    case ErrorCode::io: return "io";
    case ErrorCode::changed: return "changed";
    case ErrorCode::busy: return "busy";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::mount_failed: return "mount_failed";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::internal: return "internal";
  }
  return "other";
}

std::string Error::describe() const {
  std::string line;
  if (!where.file.empty()) line += where.file + ": ";
  line += message;
  if (where.offset) {
    line += " (at byte " + std::to_string(*where.offset);
    if (where.length) line += ", " + std::to_string(*where.length) + " bytes";
    line += ")";
  }
  if (sys_errno != 0) line += ": " + std::generic_category().message(sys_errno);
  if (!advice.empty()) line += "; " + advice;
  return line;
}

Error Error::with(const std::string& context) && {
  message = context + ": " + message;
  return std::move(*this);
}

Error make_error(ErrorCode code, std::string message, std::string file, std::string advice) {
  return Error{code, std::move(message), Place{std::move(file), {}, {}}, std::move(advice), 0};
}

Error errno_error(int sys_errno, std::string message, std::string file, std::string advice) {
  const bool absent = sys_errno == ENOENT || sys_errno == ENOTDIR;
  Error error = make_error(absent ? ErrorCode::not_found : ErrorCode::io, std::move(message), std::move(file), std::move(advice));
  error.sys_errno = sys_errno;
  return error;
}

}  // namespace vouchfs
