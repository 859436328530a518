#include "formats/torch_layout.h"

#include <algorithm>
#include <utility>

namespace vouchfs::formats {
namespace {

bool multiply(std::uint64_t a, std::uint64_t b, std::uint64_t& result) { return !__builtin_mul_overflow(a, b, &result); }
bool add(std::uint64_t a, std::uint64_t b, std::uint64_t& result) { return !__builtin_add_overflow(a, b, &result); }

// Types below a byte pack the last dimension: each row fills whole bytes.
bool packed_bytes(const TorchStrides& strides, std::uint64_t per_byte, std::uint64_t& bytes) {
  bytes = 1;
  for (std::size_t i = 0; i < strides.size.size(); ++i) {
    const bool last = i + 1 == strides.size.size();
    const std::uint64_t n = last ? strides.size[i] / per_byte + (strides.size[i] % per_byte != 0 ? 1 : 0) : strides.size[i];
    if (!multiply(bytes, n, bytes)) return false;
  }
  return true;
}

// Bytes from the first to the last element.
bool extent(const TorchStrides& strides, const TorchDtype& dtype, std::uint64_t& bytes) {
  bytes = 0;
  if (std::find(strides.size.begin(), strides.size.end(), 0U) != strides.size.end()) return true;
  if (dtype.elements_per_byte > 1) return packed_bytes(strides, dtype.elements_per_byte, bytes);
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < strides.size.size(); ++i) {
    std::uint64_t step = 0;
    if (!multiply(strides.size[i] - 1, strides.stride[i], step) || !add(last, step, last)) return false;
  }
  return add(last, 1, last) && multiply(last, dtype.bytes, bytes);
}

}  // namespace

PickleTensor lay_out(TorchStrides strides, const TorchDtype& dtype, const PickleStorage& storage) {
  PickleTensor tensor;
  tensor.dtype = dtype.name;
  std::uint64_t end = 0;
  if (strides.size.size() != strides.stride.size())
    tensor.broken = "it has " + std::to_string(strides.size.size()) + " sizes and " + std::to_string(strides.stride.size()) + " strides";
  else if (!extent(strides, dtype, tensor.bytes) || !multiply(strides.offset, dtype.bytes, tensor.begin) || !add(tensor.begin, tensor.bytes, end))
    tensor.broken = "its size does not fit 64 bits";
  else if (tensor.bytes == 0)
    tensor.begin = std::min(tensor.begin, storage.view_bytes);  // takes no bytes, wherever it says it begins
  else if (end > storage.view_bytes)
    tensor.broken =
        "it takes bytes " + std::to_string(tensor.begin) + " to " + std::to_string(end) + " of a storage that has " + std::to_string(storage.view_bytes);
  tensor.shape = std::move(strides.size);
  if (tensor.broken.empty()) tensor.begin += storage.view_begin;
  return tensor;
}

}  // namespace vouchfs::formats
