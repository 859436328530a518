// torch_sound.h: what must hold of every input read as a torch file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "formats/torch_file.h"
#include "require.h"
#include "seal/tensor_table.h"

namespace vouchfs::fuzz {

inline void check_problems(const formats::TorchFile& file, std::uint64_t file_bytes) {
  REQUIRE(file.problem.has_value() == !file.faults.empty());
  if (file.problem) REQUIRE(file.tensors.empty() && *file.problem == file.faults.front());
  if (!file.problem) REQUIRE(file.claimed.empty());
  for (const formats::HeaderProblem& fault : file.faults) {
    REQUIRE(!fault.name.empty() && !fault.text.empty() && !fault.detail.empty() && fault.offset <= file_bytes);
    REQUIRE(is_utf8(fault.text) && is_utf8(fault.detail) && is_utf8(fault.tensor));
  }
}

inline void check_tensors(const std::vector<formats::Tensor>& tensors) {
  const auto in_order = [](const formats::Tensor& a, const formats::Tensor& b) { return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name); };
  REQUIRE(std::is_sorted(tensors.begin(), tensors.end(), in_order));
  for (const formats::Tensor& tensor : tensors) REQUIRE(tensor.begin <= tensor.end && is_utf8(tensor.name) && !tensor.dtype.empty());
}

// A whole file's tensors survive the way through a tensor table.
inline void check_table(formats::TorchFile&& file) {
  seal::TensorTable table;
  table.files.push_back({"a.bin", "torch", std::move(file.tensors), std::move(file.problem)});
  const std::string text = seal::write_tensor_table(table);
  const auto again = seal::parse_tensor_table(text);
  REQUIRE(again && seal::write_tensor_table(*again) == text);
}

inline void check_torch(std::string_view bytes) {
  const std::uint64_t size = bytes.size();
  auto file = formats::read_torch_file(size, [&](std::uint64_t offset, std::span<std::uint8_t> dst) -> Result<std::size_t> {
    REQUIRE(offset <= size && dst.size() <= size - offset);  // never asks for bytes that are not there
    std::memcpy(dst.data(), bytes.data() + offset, dst.size());
    return dst.size();
  });
  REQUIRE(file);
  check_problems(*file, size);
  check_tensors(file->tensors);
  check_tensors(file->claimed);
  for (const formats::Tensor& tensor : file->tensors) REQUIRE(tensor.end <= size);
  for (const formats::TorchRecord& record : file->records) {
    REQUIRE(is_utf8(record.name));
    if (record.usable) REQUIRE(record.begin <= size && record.bytes <= size - record.begin);
  }
  for (const formats::PickleGlobal& global : file->globals) REQUIRE(is_utf8(global.module) && is_utf8(global.name) && global.offset <= size);
  check_table(*std::move(file));
}

}  // namespace vouchfs::fuzz
