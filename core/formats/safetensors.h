// safetensors.h: the header of a safetensors file: its tensors, or the first rule it breaks.
// Layer:  core/formats (2).
// Source: safetensors/src/tensor.rs (read_metadata): the checks run in the reference's order, so the first error is the same.
// Errors: io from the reader. A broken header is not an Error but a verdict, because a seal records it.
// Cost:   reads 8 bytes and the header (at most 100,000,000 bytes); never looks at tensor data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/byte_reader.h"
#include "formats/tensor.h"

namespace vouchfs::formats {

// The reference's limit (MAX_HEADER_SIZE).
inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

// What is wrong with a header.
struct HeaderProblem {
  std::string name;          // the reference's error name: "HeaderTooLarge"; "UnknownDtype" for a dtype we do not know
  std::string text;          // what newer versions of the library print for it
  std::string detail;        // what, where and how much, in our words
  std::string tensor;        // the tensor concerned, when there is one
  std::uint64_t offset = 0;  // from the start of the file, where the problem is
};

struct SafetensorsHeader {
  std::uint64_t data_offset = 0;         // 8 + n: where tensor data begins
  std::vector<Tensor> tensors;           // in order of (begin, end, name); empty when the header is broken
  std::optional<std::string> format;     // __metadata__["format"], when given
  std::optional<HeaderProblem> problem;  // the first rule broken, in the reference's order
};

// Bits of one element, or nullopt for a dtype that is not in the format.
std::optional<unsigned> safetensors_dtype_bits(std::string_view dtype);

Result<SafetensorsHeader> read_safetensors_header(std::uint64_t file_bytes, const ReadAt& read);

}  // namespace vouchfs::formats
