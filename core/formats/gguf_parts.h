// gguf_parts.h: the parts of a GGUF header, each read by a function of its own. Internal to core/formats.
// Layer:  core/formats (2).
// Errors: a problem is the first rule broken; when the stream's reader failed, the stream's error() counts instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/gguf.h"
#include "formats/gguf_stream.h"

namespace vouchfs::formats {

using MaybeProblem = std::optional<HeaderProblem>;

// A header has at most so many tensors and keys here: real ones have thousands and dozens.
inline constexpr std::uint64_t kMaxGgufTensors = 1ULL << 21;
inline constexpr std::uint64_t kMaxGgufKeys = 1ULL << 20;
// The reference's limit for strings and arrays.
inline constexpr std::uint64_t kMaxGgufString = 1ULL << 30;
inline constexpr std::uint64_t kMaxGgufElements = 1ULL << 30;
// docs/gguf.md: keys have at most 2^16 - 1 bytes.
inline constexpr std::uint64_t kMaxGgufKeyBytes = 65535;

// The header ended (or is past its limit) while `what` was read; `text` is what the library says.
HeaderProblem gguf_ended(const GgufStream& stream, std::string text, const std::string& what);

// What the library says of a string longer than kMaxGgufString.
inline std::string gguf_string_text(std::uint64_t bytes) {
  return "string length " + std::to_string(bytes) + " exceeds maximum " + std::to_string(kMaxGgufString);
}

// Magic, version and counts.
MaybeProblem read_gguf_prologue(std::uint64_t file_bytes, GgufStream& stream, GgufHeader& header);
// The keys: alignment, architecture, split; all others are passed over, within bounds.
MaybeProblem read_gguf_keys(GgufStream& stream, GgufHeader& header);

// One tensor as its info says. Places are from the start of the data area.
struct GgufInfo {
  Tensor tensor;
  std::uint64_t info_offset = 0;  // of the info, from the start of the file
};
// Infos up to the first broken one. After an unknown type the rest is only passed over, so that the place of the data is known: `complete`.
struct GgufInfos {
  std::vector<GgufInfo> infos;
  bool complete = false;
};
MaybeProblem read_gguf_infos(GgufStream& stream, const GgufHeader& header, GgufInfos& into);

}  // namespace vouchfs::formats
