// tensor.h: one tensor in one shard, as every weight format gives it.
// Layer: core/formats (2). Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vouchfs::formats {

struct Tensor {
  std::string name;
  std::string dtype;                 // the format's own name: "BF16", "F8_E4M3"
  std::vector<std::uint64_t> shape;  // in the file's own order
  std::uint64_t begin = 0;           // first byte, from the start of the file
  std::uint64_t end = 0;             // one past the last byte

  std::uint64_t bytes() const noexcept { return end - begin; }
  bool operator==(const Tensor&) const = default;
};

}  // namespace vouchfs::formats
