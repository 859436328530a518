// error.h: what went wrong, as a value: a code, a place, a sentence and what to do about it.
// Layer:   core/base (0).
// Threads: plain values; safe to copy between threads.
// Cost:    one or two strings; errors are built on failing paths only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace vouchfs {

// Kinds of failure. The commands map them to exit codes, fs/ maps them to errno; nothing else interprets them.
enum class ErrorCode {
  other,             // none of the below
  invalid_argument,  // the caller asked for something that cannot be: bad option, bad digest text
  not_found,         // a file or folder that was named is not there
  bad_format,        // bytes that do not follow the grammar they should: manifest, header, index
  truncated,         // fewer bytes than there must be
  corrupt,           // bytes that do not hash to what the seal says
  untrusted,         // a seal that does not fit the digest or key it is pinned to
  incomplete,        // a part the model needs is absent
  io,                // the operating system failed an operation; sys_errno tells how
  changed,           // a file changed while it was being read
  busy,              // somebody else is at work here
  unsupported,       // asked for something this build, kernel or filesystem does not have
  mount_failed,      // mounting, unmounting or talking to FUSE failed
  cancelled,         // stopped on request (SIGINT, SIGTERM)
  internal,          // a bug of ours
};

// Stable lower-case word for a code ("not_found"), for JSON and logs.
const char* to_string(ErrorCode code) noexcept;

// Where it went wrong. Offsets and lengths are bytes from the start of the file.
struct Place {
  std::string file;
  std::optional<std::uint64_t> offset;
  std::optional<std::uint64_t> length;
};

struct Error {
  ErrorCode code = ErrorCode::other;
  std::string message;  // what failed, in words, without the place
  Place where;          // on which file and bytes; file may be empty
  std::string advice;   // what to do; may be empty
  int sys_errno = 0;    // errno for ErrorCode::io and friends, else 0

  // One line for people: "FILE: MESSAGE (at bytes A to B): strerror; ADVICE".
  std::string describe() const;
  // The same error with words put in front of its message.
  Error with(const std::string& context) &&;
};

Error make_error(ErrorCode code, std::string message, std::string file = {}, std::string advice = {});
// From errno of a failed system call. ENOENT and ENOTDIR become not_found, everything else io.
Error errno_error(int sys_errno, std::string message, std::string file = {}, std::string advice = {});

}  // namespace vouchfs
