// Any bytes as a safetensors file. What the reader takes must lie in the file, and survive the fix that puts a format into its header.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "formats/add_format.h"
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

formats::ReadAt reader_of(std::string_view bytes) {
  return [bytes](std::uint64_t offset, std::span<std::uint8_t> dst) -> Result<std::size_t> {
    REQUIRE(offset + dst.size() <= bytes.size());  // never asks for bytes that are not there
    std::memcpy(dst.data(), bytes.data() + offset, dst.size());
    return dst.size();
  };
}

// With a format put in, a good file is a good file with the same tensors, each so many bytes further on.
void check_format_edit(const formats::SafetensorsHeader& header, std::string_view bytes) {
  const std::string_view json = bytes.substr(8, static_cast<std::size_t>(header.data_offset) - 8);
  const auto edit = formats::format_edit(json);
  REQUIRE(edit.has_value() == !header.format.has_value());
  if (!edit) return;
  REQUIRE(edit->begin <= edit->end && edit->end <= json.size());
  std::string mended;
  for (unsigned i = 0; i < 8; ++i) mended += static_cast<char>((json.size() + formats::kFormatEditGrowth) >> (8 * i) & 0xFF);
  mended.append(json.substr(0, static_cast<std::size_t>(edit->begin))).append(edit->text).append(bytes.substr(8 + static_cast<std::size_t>(edit->end)));
  const auto again = formats::read_safetensors_header(mended.size(), reader_of(mended));
  REQUIRE(again && !again->problem && again->format == "pt" && again->tensors.size() == header.tensors.size());
  for (std::size_t i = 0; i < header.tensors.size(); ++i) {
    formats::Tensor moved = header.tensors[i];
    moved.begin += formats::kFormatEditGrowth;
    moved.end += formats::kFormatEditGrowth;
    REQUIRE(again->tensors[i] == moved);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto header = formats::read_safetensors_header(size, reader_of(bytes));
  REQUIRE(header);
  if (!header->problem) {
    check_sound(*header, size);
    check_format_edit(*header, bytes);
    return 0;
  }
  REQUIRE(header->tensors.empty());
  REQUIRE(!header->problem->name.empty() && !header->problem->text.empty() && !header->problem->detail.empty());
  REQUIRE(header->problem->offset <= size);
  return 0;
}
