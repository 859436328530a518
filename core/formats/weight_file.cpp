#include "formats/weight_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "formats/gguf.h"
#include "formats/safetensors.h"

namespace vouchfs::formats {
namespace {

struct Ending {
  std::string_view text;
  WeightFormat format;
};
constexpr std::array<Ending, 6> kEndings = {{{".safetensors", WeightFormat::safetensors},
                                             {".gguf", WeightFormat::gguf},
                                             {".bin", WeightFormat::torch},
                                             {".pt", WeightFormat::torch},
                                             {".pth", WeightFormat::torch},
                                             {".ckpt", WeightFormat::torch}}};

constexpr std::array<WeightFormat, 3> kFormats = {WeightFormat::safetensors, WeightFormat::gguf, WeightFormat::torch};

// `header` is that of any format: they name these two alike.
template <class Header>
std::optional<WeightHeader> taken(WeightFormat format, Header&& header) {
  WeightHeader out;
  out.format = format;
  out.problem = std::move(header.problem);
  if (!out.problem) out.tensors = std::move(header.tensors);
  return out;
}

}  // namespace

const char* to_string(WeightFormat format) noexcept {
  switch (format) {
    case WeightFormat::safetensors: return "safetensors";
    case WeightFormat::gguf: return "gguf";
    case WeightFormat::torch: return "torch";
  }
  return "unknown";
}

std::optional<WeightFormat> weight_format_from(std::string_view word) noexcept {
  for (const WeightFormat format : kFormats)
    if (word == to_string(format)) return format;
  return std::nullopt;
}

std::optional<WeightFormat> weight_format_of_name(std::string_view file_name) {
  const auto found = std::find_if(kEndings.begin(), kEndings.end(), [&](const Ending& ending) { return file_name.ends_with(ending.text); });
  return found == kEndings.end() ? std::nullopt : std::optional(found->format);
}

Result<std::optional<WeightHeader>> read_weight_header(std::string_view file_name, std::uint64_t file_bytes, const ReadAt& read) {
  const auto format = weight_format_of_name(file_name);
  if (format == WeightFormat::safetensors) {
    VOUCHFS_ASSIGN(SafetensorsHeader header, read_safetensors_header(file_bytes, read));
    return taken(*format, std::move(header));
  }
  if (format == WeightFormat::gguf) {
    VOUCHFS_ASSIGN(GgufHeader header, read_gguf_header(file_bytes, read));
    return taken(*format, std::move(header));
  }
  return std::nullopt;
}

}  // namespace vouchfs::formats
