// result.h: Result<T> = value or Error; Status = Result<void>. The only way failures travel in vouchfs.
// Layer: core/base (0). tl::expected, because neither g++ 12 in C++20 nor clang 14 has std::expected.
#pragma once

#include <tl/expected.hpp>

#include "base/error.h"

namespace vouchfs {

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }
inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string file = {}, std::string advice = {}) {
  return tl::unexpected<Error>(make_error(code, std::move(message), std::move(file), std::move(advice)));
}

}  // namespace vouchfs

// Returns the error of a Status or Result expression from the enclosing function.
#define VOUCHFS_TRY(expression)                                                                  \
  do {                                                                                           \
    if (auto vouchfs_try = (expression); !vouchfs_try) return ::vouchfs::fail(std::move(vouchfs_try).error()); \
  } while (false)

#define VOUCHFS_CONCAT_(a, b) a##b
#define VOUCHFS_CONCAT(a, b) VOUCHFS_CONCAT_(a, b)
// VOUCHFS_ASSIGN(auto x, f()): x becomes the value of f(), or the enclosing function returns its error.
#define VOUCHFS_ASSIGN(declaration, expression)                                               \
  auto VOUCHFS_CONCAT(vouchfs_result_, __LINE__) = (expression);                              \
  if (!VOUCHFS_CONCAT(vouchfs_result_, __LINE__))                                             \
    return ::vouchfs::fail(std::move(VOUCHFS_CONCAT(vouchfs_result_, __LINE__)).error());     \
  declaration = std::move(*VOUCHFS_CONCAT(vouchfs_result_, __LINE__))
