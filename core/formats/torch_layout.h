// torch_layout.h: the bytes that a strided tensor takes of its storage. Internal to core/formats.
// Layer: core/formats (2). Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/pickle_values.h"
#include "formats/torch_names.h"

namespace vouchfs::formats {

struct TorchStrides {
  std::uint64_t offset = 0;  // elements from the start of the storage
  std::vector<std::uint64_t> size;
  std::vector<std::uint64_t> stride;  // elements
};

// Fills shape, begin, bytes and, for a layout that cannot be or does not fit the storage, broken.
PickleTensor lay_out(TorchStrides strides, const TorchDtype& dtype, const PickleStorage& storage);

}  // namespace vouchfs::formats
