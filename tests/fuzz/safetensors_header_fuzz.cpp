// Any bytes as a safetensors file. What the reader takes must lie in the file, and survive the way through a tensor table.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "formats/safetensors.h"
#include "require.h"

using namespace vouchfs;

namespace {

void check_sound(const formats::SafetensorsHeader& header, std::uint64_t file_bytes) {
  std::uint64_t at = header.data_offset;
  for (const formats::Tensor& tensor : header.tensors) {
    REQUIRE(tensor.begin == at && tensor.end >= tensor.begin);
    REQUIRE(formats::safetensors_dtype_bits(tensor.dtype).has_value());
    at = tensor.end;
  }
  REQUIRE(at == file_bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto header = formats::read_safetensors_header(size, [&](std::uint64_t offset, std::span<std::uint8_t> dst) -> Result<std::size_t> {
    REQUIRE(offset + dst.size() <= size);  // never asks for bytes that are not there
    std::memcpy(dst.data(), data + offset, dst.size());
    return dst.size();
  });
  REQUIRE(header);
  if (!header->problem) {
    check_sound(*header, size);
    return 0;
  }
  REQUIRE(header->tensors.empty());
  REQUIRE(!header->problem->name.empty() && !header->problem->text.empty() && !header->problem->detail.empty());
  REQUIRE(header->problem->offset <= size);
  return 0;
}
