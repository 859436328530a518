// gguf.h: the header of a GGUF file, versions 2 and 3: its tensors and splits, or the first rule it breaks.
// Layer:  core/formats (2).
// Source: ggml src/gguf.cpp and llama.cpp's model loader: their rules, in their order, so the first error is the same.
// Errors: io from the reader. A broken header is a verdict.
// Cost:   reads the header in bounded pieces, never tensor data; memory grows with the bytes really read, whatever the counts claim.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/byte_reader.h"
#include "formats/header_problem.h"
#include "formats/tensor.h"

namespace vouchfs::formats {

// One entry of ggml's table of tensor types.
struct GgufType {
  std::uint32_t id;
  std::string_view name;  // "F32", "Q4_K" …
  std::uint32_t elements;  // of one block
  std::uint32_t bytes;     // of one block
};
std::span<const GgufType> gguf_types() noexcept;
const GgufType* find_gguf_type(std::uint32_t id) noexcept;  // null when unknown or removed

struct GgufSplit {
  std::uint64_t number = 0;   // split.no, from 0
  std::uint64_t count = 0;    // split.count
  std::uint64_t tensors = 0;  // split.tensors.count, of all parts together
};

// HeaderProblem.name is one of: FileTooSmall, BadMagic, UnsupportedVersion, ByteOrder, BadCount, TruncatedHeader, BadKey, DuplicateKey,
// BadValue, BadAlignment, BadName, DuplicateTensor, BadShape, UnknownType, BadOffset, DataOutOfBounds.
struct GgufHeader {
  std::uint32_t version = 0;
  std::uint64_t tensor_count = 0;         // as claimed
  std::uint64_t key_count = 0;            // as claimed
  std::uint64_t alignment = 32;           // bytes
  std::string architecture;               // general.architecture; empty when absent
  std::optional<GgufSplit> split;
  std::vector<Tensor> tensors;            // whole file; empty when there is a problem
  std::vector<Tensor> claimed;            // with a problem: what could be read of the infos (with DataOutOfBounds: all of them)
  std::uint64_t data_offset = 0;          // where tensor data begins; 0 when not known
  std::uint64_t data_end = 0;             // end of the last tensor without its padding; what is past it is padding or trailing bytes
  std::optional<HeaderProblem> problem;
};

Result<GgufHeader> read_gguf_header(std::uint64_t file_bytes, const ReadAt& read);

// "NAME-00001-of-00003.gguf" -> the name of another part, or nullopt when the name has no such form. number counts from 1.
std::optional<std::string> gguf_part_name(std::string_view file_name, std::uint64_t number);

}  // namespace vouchfs::formats
