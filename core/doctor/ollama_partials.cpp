#include "doctor/ollama_partials.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "doctor/check_parts.h"
#include "doctor/folder_list.h"

namespace vouchfs::doctor {
namespace {

constexpr std::uint64_t kMaxNoteBytes = 64 << 10;
constexpr std::string_view kEnding = "-partial";

// Bytes done of one piece, or nullopt for what is no note.
std::optional<std::uint64_t> completed(const std::string& path) {
  const auto text = read_small(path, kMaxNoteBytes);
  if (!text) return std::nullopt;
  const auto note = nlohmann::json::parse(*text, nullptr, false);
  if (!note.is_object() || !note.contains("Completed") || !note["Completed"].is_number_unsigned()) return std::nullopt;
  return note["Completed"].get<std::uint64_t>();
}

std::uint64_t bytes_there(const std::string& blobs_dir, const std::vector<std::string>& names, const std::string& partial, const FileSize& size) {
  std::uint64_t sum = 0;
  bool noted = false;
  for (auto at = std::upper_bound(names.begin(), names.end(), partial); at != names.end() && at->starts_with(partial + "-"); ++at) {
    const auto done = completed(blobs_dir + "/" + *at);
    noted |= done.has_value();
    sum += std::min(done.value_or(0), size.bytes);
  }
  return std::min(noted ? sum : size.allocated, size.bytes);
}

}  // namespace

std::string hex_of_blob(const std::string& name) {
  if (!name.starts_with("sha256-") && !name.starts_with("sha256:")) return {};
  const std::string hex = name.substr(7);
  return is_hex(hex, 64) ? hex : std::string();
}

std::vector<OllamaPartial> ollama_partials(const std::string& blobs_dir) {
  const std::vector<std::string> names = names_in(blobs_dir);
  std::vector<OllamaPartial> partials;
  for (const std::string& name : names) {
    if (!name.ends_with(kEnding)) continue;
    const std::string blob = name.substr(0, name.size() - kEnding.size());
    const auto size = size_of(join_path(blobs_dir, name));
    if (hex_of_blob(blob).empty() || !size) continue;
    partials.push_back({name, hex_of_blob(blob), size->bytes, bytes_there(blobs_dir, names, name, *size), size_of(join_path(blobs_dir, blob)).has_value()});
  }
  return partials;
}

}  // namespace vouchfs::doctor
