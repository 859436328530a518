// weight_file.h: one door to every weight format: which one a file is, and its tensors or the first rule it breaks.
// Layer:  core/formats (2).
// Errors: io from the reader. A broken header is a verdict, not an Error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/byte_reader.h"
#include "formats/header_problem.h"
#include "formats/tensor.h"

namespace vouchfs::formats {

enum class WeightFormat { safetensors, gguf, torch };
// "safetensors", "gguf", "torch": the word of tensor tables and records.
const char* to_string(WeightFormat format) noexcept;
std::optional<WeightFormat> weight_format_from(std::string_view word) noexcept;

struct WeightHeader {
  WeightFormat format = WeightFormat::safetensors;
  std::vector<Tensor> tensors;           // in order of (begin, end, name); empty when broken. Of torch files they may overlap (tied weights)
  std::optional<HeaderProblem> problem;  // the first rule broken
};

// What the name promises: *.safetensors, *.gguf, and *.bin, *.pt, *.pth, *.ckpt for torch. nullopt for other names.
std::optional<WeightFormat> weight_format_of_name(std::string_view file_name);

// The header of a file whose name promises weights. A torch name promises little (training_args.bin, raw arrays): without the marks of
// either torch form, or without any tensor and problem, it is no weight file and the answer is nullopt.
Result<std::optional<WeightHeader>> read_weight_header(std::string_view file_name, std::uint64_t file_bytes, const ReadAt& read);

}  // namespace vouchfs::formats
