// Any bytes as a GGUF file. What the reader takes must lie in the file, in order and without overlaps, and survive the way through a tensor table.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "formats/gguf.h"
#include "require.h"
#include "seal/tensor_table.h"

using namespace vouchfs;

namespace {

void check_sound(const formats::GgufHeader& header, std::uint64_t file_bytes) {
  std::uint64_t at = header.data_offset;
  for (const formats::Tensor& tensor : header.tensors) {
    REQUIRE(tensor.begin >= at && tensor.end >= tensor.begin && tensor.end <= file_bytes);
    REQUIRE((tensor.begin - header.data_offset) % header.alignment == 0);
    at = tensor.end;
  }
  REQUIRE(header.tensors.size() == header.tensor_count);
  REQUIRE(header.data_end == at);
}

void check_table(formats::GgufHeader&& header) {
  seal::TensorTable table;
  table.files.push_back({"a.gguf", "gguf", std::move(header.tensors), std::move(header.problem)});
  const std::string text = seal::write_tensor_table(table);
  const auto again = seal::parse_tensor_table(text);
  REQUIRE(again && seal::write_tensor_table(*again) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto header = formats::read_gguf_header(size, [&](std::uint64_t offset, std::span<std::uint8_t> dst) -> Result<std::size_t> {
    REQUIRE(offset <= size && dst.size() <= size - offset);  // never asks for bytes that are not there
    std::memcpy(dst.data(), data + offset, dst.size());
    return dst.size();
  });
  REQUIRE(header);
  if (!header->problem) {
    check_sound(*header, size);
  } else {
    REQUIRE(header->tensors.empty());
    REQUIRE(!header->problem->name.empty() && !header->problem->text.empty() && !header->problem->detail.empty());
    REQUIRE(header->problem->offset <= size);
  }
  check_table(*std::move(header));
  return 0;
}
