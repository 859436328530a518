#include "formats/torch_bytes.h"

#include <algorithm>

namespace vouchfs::formats {

Status append_exactly(const ReadAt& read, std::uint64_t offset, std::uint64_t count, std::string& to) {
  constexpr std::uint64_t kPiece = 1U << 20;
  while (count > 0) {
    const std::uint64_t wanted = std::min(count, kPiece);
    const std::size_t before = to.size();
    to.resize(before + static_cast<std::size_t>(wanted));
    VOUCHFS_ASSIGN(const std::size_t got, read(offset, {reinterpret_cast<std::uint8_t*>(to.data()) + before, static_cast<std::size_t>(wanted)}));
    to.resize(before + got);
    if (got < wanted) {
      Error error = make_error(ErrorCode::truncated, "the file ended while it was read: it became shorter meanwhile");
      error.where.offset = offset + got;
      return fail(std::move(error));
    }
    offset += wanted;
    count -= wanted;
  }
  return {};
}

}  // namespace vouchfs::formats
