#include "doctor/check_parts.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/utf8.h"
#include "doctor/catalogue.h"
#include "doctor/loader_texts.h"

namespace vouchfs::doctor {
namespace {

constexpr std::uint64_t kWorthRounding = 10'000;

// "models--org--name" -> "org/name".
std::string hub_name(const std::string& cache_dir) {
  std::string name = base_name(cache_dir);
  constexpr std::string_view kPrefix = "models--";
  if (name.compare(0, kPrefix.size(), kPrefix) != 0) return {};
  name.erase(0, kPrefix.size());
  const std::size_t bar = name.find("--");
  return bar == std::string::npos ? name : name.substr(0, bar) + "/" + name.substr(bar + 2);
}

}  // namespace

Finding about(const ModelFacts& model, const std::string& path, const char* code) {
  Finding finding;
  finding.code = code;
  finding.file = model.shown_path(path);
  // The name of a blob promises no format; the readable one that its manifest gives it does.
  const CodeFacts* facts = model.place.kind == publisher::PlaceKind::ollama ? find_code(finding.code) : nullptr;
  if (facts != nullptr) finding.loader = texts_for(path, facts->loader);
  return finding;
}

std::string count_text(std::uint64_t count, const std::string& noun) { return std::to_string(count) + " " + noun + (count == 1 ? "" : "s"); }

std::string bytes_text(std::uint64_t bytes) { return count_text(bytes, "byte") + (bytes < kWorthRounding ? "" : " (" + format_bytes(bytes) + ")"); }

std::string list_text(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  const std::size_t told = std::min(names.size(), most);
  for (std::size_t i = 0; i < told; ++i) text += (i == 0 ? "" : ", ") + printable(names[i]);
  return told == names.size() ? text : text + " and " + std::to_string(names.size() - told) + " more";
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string join_path(const std::string& folder, const std::string& name) { return folder.empty() ? name : folder + "/" + name; }

std::vector<std::string> tensors_past(const std::vector<formats::Tensor>& tensors, std::uint64_t bytes) {
  std::vector<std::string> names;
  for (const formats::Tensor& tensor : tensors)
    if (tensor.end > bytes && tensor.end > tensor.begin) names.push_back(tensor.name);
  return names;
}

std::vector<std::string> tensors_within(const std::vector<formats::Tensor>& tensors, std::uint64_t begin, std::uint64_t end) {
  std::vector<std::string> names;
  for (const formats::Tensor& tensor : tensors)
    if (tensor.begin < end && tensor.end > begin) names.push_back(tensor.name);
  return names;
}

std::string index_command(const ModelFacts& model, const std::string& path, bool force) {
  const std::string folder = folder_of(path);
  const auto indexes =
      std::count_if(model.files.begin(), model.files.end(), [&](const FileFacts& file) { return folder_of(file.path) == folder && file.index; });
  std::string command = "vouchfs index " + shell_word(model.place.model_dir);
  if (!folder.empty()) command += " --folder " + shell_word(folder);
  if (indexes > 1) command += " --name " + shell_word(base_name(path));
  const FileFacts* there = model.find(path);
  const bool names_nothing = there != nullptr && there->index && there->index->weight_map.empty();
  return command + (force || names_nothing || (there != nullptr && there->sealed) ? " --write --force" : " --write");
}

std::string ollama_name(const std::string& manifest) {
  std::string name = manifest;
  for (const std::string_view usual : {"manifests/", "registry.ollama.ai/", "library/"})
    if (name.compare(0, usual.size(), usual) == 0) name.erase(0, usual.size());
  const std::size_t slash = name.find_last_of('/');
  if (slash != std::string::npos) name[slash] = ':';
  return name;
}

std::string fetch_command(const ModelFacts& model, const std::string& path) {
  const FileFacts* there = model.find(path);
  const bool present = there != nullptr && there->presence == Presence::readable;
  if (model.place.kind == publisher::PlaceKind::ollama) {
    const std::string pull = "ollama pull " + shell_word(ollama_name(model.place.manifest));
    return present ? "rm " + shell_word(there->real_path) + " && " + pull : pull;
  }
  const std::string name = hub_name(model.place.cache_dir);
  if (model.place.kind != publisher::PlaceKind::hf_snapshot || name.empty()) return {};
  std::string command = "hf download " + shell_word(name);
  if (!path.empty()) command += " " + shell_word(path);
  if (!model.place.revision.empty()) command += " --revision " + shell_word(model.place.revision);
  command += " --cache-dir " + shell_word(folder_of(model.place.cache_dir).empty() ? "." : folder_of(model.place.cache_dir));
  return present ? command + " --force-download" : command;
}

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace vouchfs::doctor
