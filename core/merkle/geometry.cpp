#include "merkle/geometry.h"

namespace vouchfs::merkle {
namespace {

constexpr std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) noexcept { return value / by + (value % by != 0 ? 1 : 0); }

}  // namespace

Geometry::Geometry(std::uint64_t file_bytes, std::uint64_t block_bytes, std::uint64_t digest_bytes)
    : file_bytes_(file_bytes), block_bytes_(block_bytes), arity_(block_bytes / digest_bytes), data_blocks_(divide_up(file_bytes, block_bytes)) {
  for (std::uint64_t below = data_blocks_; below > 1; below = blocks_.back()) blocks_.push_back(divide_up(below, arity_));
  start_.resize(blocks_.size());
  // The root comes first in the file, so starts are handed out from the top.
  for (std::size_t level = blocks_.size(); level-- > 0;) {
    start_[level] = tree_blocks_;
    tree_blocks_ += blocks_[level];
  }
}

}  // namespace vouchfs::merkle
