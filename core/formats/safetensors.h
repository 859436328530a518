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
#include "formats/header_problem.h"
#include "formats/tensor.h"

namespace vouchfs::formats {

// The reference's limit (MAX_HEADER_SIZE).
inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

struct SafetensorsHeader {
  std::uint64_t data_offset = 0;         // 8 + n: where tensor data begins
  std::vector<Tensor> tensors;           // in order of (begin, end, name); empty when the header is broken
  std::optional<std::string> format;     // __metadata__["format"], when given
  std::optional<HeaderProblem> problem;  // the first rule broken, in the reference's order; name is "UnknownDtype" for a dtype we do not know
  std::vector<Tensor> claimed;           // with a problem: what the JSON says as far as it could be read, in the order of `tensors`, unchecked: ranges may be
                                         // absurd, overlap, or pass the end of the file (then saturated at 2^64 - 1)
  bool has_metadata = false;             // __metadata__ is there and not null
  bool metadata_broken = false;          // with a problem: it lies in the value of __metadata__
  std::string repeated_name;             // a name that comes twice (readers keep the last); empty when none does
};

// Bits of one element, or nullopt for a dtype that is not in the format.
std::optional<unsigned> safetensors_dtype_bits(std::string_view dtype);

Result<SafetensorsHeader> read_safetensors_header(std::uint64_t file_bytes, const ReadAt& read);

}  // namespace vouchfs::formats
