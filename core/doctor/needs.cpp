#include "doctor/needs.h"

#include <algorithm>
#include <array>
#include <utility>

namespace vouchfs::doctor {

std::optional<std::string_view> version_for_dtype(std::string_view dtype) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kSince = {
      {{"F4", "0.6"}, {"F6_E2M3", "0.6"}, {"F6_E3M2", "0.6"}, {"F8_E8M0", "0.6"}, {"C64", "0.7"}, {"F8_E4M3FNUZ", "0.8"}, {"F8_E5M2FNUZ", "0.8"}}};
  const auto* at = std::find_if(kSince.begin(), kSince.end(), [&](const auto& row) { return row.first == dtype; });
  return at == kSince.end() ? std::nullopt : std::optional(at->second);
}

std::optional<std::string> safetensors_needed(const FileFacts& file) {
  std::string_view version;
  if (file.safetensors)
    for (const formats::Tensor& tensor : file.safetensors->tensors)
      if (const auto since = version_for_dtype(tensor.dtype)) version = std::max(version, *since);
  if (version.empty()) return std::nullopt;
  return "safetensors >= " + std::string(version);
}

}  // namespace vouchfs::doctor
