#include "formats/pickle_bytes.h"

#include <algorithm>
#include <utility>

#include "formats/torch_bytes.h"
#include "formats/torch_file.h"

namespace vouchfs::formats {
namespace {

constexpr std::uint64_t kFirstRead = 64U << 10;

}  // namespace

bool PickleBytes::ensure(std::uint64_t position, std::uint64_t count) {
  if (position > size() || count > size() - position) return false;
  const std::uint64_t needed = position + count;
  if (needed <= buffer_.size()) return true;
  if (needed > kMaxPickleBytes) {
    over_limit_ = true;
    return false;
  }
  if (!status_) return false;
  const std::uint64_t have = buffer_.size();
  const std::uint64_t wanted = std::min({std::max({needed, have * 2, kFirstRead}), size(), kMaxPickleBytes});
  status_ = append_exactly(read_, begin_ + have, wanted - have, buffer_);
  return status_.has_value();
}

std::string_view PickleBytes::at(std::uint64_t position, std::uint64_t count) const {
  return std::string_view(buffer_).substr(static_cast<std::size_t>(position), static_cast<std::size_t>(count));
}

std::uint64_t PickleBytes::find_newline(std::uint64_t position, std::uint64_t limit) {
  for (std::uint64_t i = position; i - position < limit && ensure(i, 1); ++i)
    if (buffer_[static_cast<std::size_t>(i)] == '\n') return i;
  return kNowhere;
}

}  // namespace vouchfs::formats
