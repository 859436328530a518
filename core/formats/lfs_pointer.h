// lfs_pointer.h: Git LFS pointers: the few lines that stand in git in place of a large file.
// Layer:  core/formats (2). Pure function.
// Source: git-lfs docs/spec.md: UTF-8, under 1024 bytes, "version" first, then sorted keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vouchfs::formats {

inline constexpr std::size_t kMaxLfsPointerBytes = 1024;

struct LfsPointer {
  std::string sha256;       // 64 hex digits, of the file it stands for
  std::uint64_t bytes = 0;  // of that file
};
// Also with CRLF line ends and with the old hawser.github.com version line. nullopt for anything else.
std::optional<LfsPointer> parse_lfs_pointer(std::string_view text);

}  // namespace vouchfs::formats
