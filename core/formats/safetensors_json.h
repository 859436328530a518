// safetensors_json.h: the JSON of a safetensors header, before anything is checked against the file's size. Internal to core/formats.
// Layer:  core/formats (2).
// Source: the serde types of safetensors/src/tensor.rs (HashMetadata with flattened TensorInfo entries): what they accept, this accepts.
//         JSON faults and `__metadata__` faults come first, then faults of fields in the order of the text, as in the reference.
//         An entry may be an array [dtype, shape, data_offsets], as serde's derived types allow; its other form of an enum,
//         {"F32": null} for a dtype, no writer writes, and it is refused here.
// Cost:   memory grows with the header only: 2,000,000 entries (the most that fit 100 MB) take about 350 MB.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/safetensors.h"

namespace vouchfs::formats {

struct HeaderEntry {
  Tensor tensor;                  // begin and end relative to the data area
  std::uint64_t json_offset = 0;  // of its name in the JSON text
};

struct HeaderJson {
  std::vector<HeaderEntry> entries;  // in order of the text, with a problem as far as they could be read; of a name that comes twice only the last stays
  std::string repeated_name;         // one name that came twice; empty when none did
  std::optional<std::string> format;
  bool has_metadata = false;     // __metadata__ is there and not null
  std::optional<HeaderProblem> problem;  // offsets relative to the JSON text
  bool metadata_broken = false;          // the problem lies in the value of __metadata__
};

HeaderJson parse_safetensors_json(std::string_view text);

// "`BOOL`, `F4`, …" in the order of the reference, as its messages list them.
std::string known_safetensors_dtypes();

}  // namespace vouchfs::formats
