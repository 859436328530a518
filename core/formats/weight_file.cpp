#include "formats/weight_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "formats/gguf.h"
#include "formats/safetensors.h"
#include "formats/torch_file.h"

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

constexpr std::uint64_t kTorchMarkBytes = 64;  // more than the marks of either form take

// `header` is that of any format: they name these two alike.
template <class Header>
std::optional<WeightHeader> taken(WeightFormat format, Header&& header) {
  WeightHeader out;
  out.format = format;
  out.problem = std::move(header.problem);
  if (!out.problem) out.tensors = std::move(header.tensors);
  return out;
}

// A few bytes at the head decide: most files of a torch name that are no torch files are told without reading more.
Result<std::optional<WeightHeader>> read_torch(std::uint64_t file_bytes, const ReadAt& read) {
  std::string head(static_cast<std::size_t>(std::min(file_bytes, kTorchMarkBytes)), '\0');
  VOUCHFS_ASSIGN(const std::size_t got, read(0, {reinterpret_cast<std::uint8_t*>(head.data()), head.size()}));
  head.resize(got);
  if (!looks_like_torch_zip(head) && !looks_like_torch_legacy(head)) return std::nullopt;
  VOUCHFS_ASSIGN(TorchFile file, read_torch_file(file_bytes, read));
  if (file.problem ? file.problem->name == "NotTorch" : file.tensors.empty()) return std::nullopt;
  return taken(WeightFormat::torch, std::move(file));
}

}  // namespace

const char* to_string(WeightFormat format) noexcept {
  switch (format) {
    case WeightFormat::safetensors:
      return "safetensors";
    case WeightFormat::gguf:
      return "gguf";
    case WeightFormat::torch:
      return "torch";
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
  if (format == WeightFormat::torch) return read_torch(file_bytes, read);
  return std::nullopt;
}

}  // namespace vouchfs::formats
