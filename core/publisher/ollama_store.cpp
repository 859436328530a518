#include "publisher/ollama_store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/file.h"
#include "base/utf8.h"
#include "formats/shard_groups.h"
#include "seal/seal_directory.h"

namespace vouchfs::publisher {
namespace {

using formats::OllamaLayer;

constexpr std::uint64_t kMaxManifestBytes = 256ULL << 20;
constexpr const char* kPullAgain = "pull the model again: ollama pull NAME";

struct Naming {
  std::string_view type;  // of the media type, behind the last dot
  const char* stem;
  const char* ending;
};
constexpr Naming kNamings[] = {{"model", "model", ".gguf"},       {"adapter", "adapter", ".gguf"}, {"projector", "projector", ".gguf"},
                               {"draft", "draft", ".gguf"},       {"template", "template", ""},    {"prompt", "prompt", ""},
                               {"system", "system", ""},          {"license", "license", ""},      {"params", "params", ".json"},
                               {"messages", "messages", ".json"}, {"embed", "embed", ""},          {"json", "layer", ".json"}};
constexpr Naming kConfig = {"", "config", ".json"};
constexpr Naming kUnknown = {"", "layer", ""};

std::string_view type_of(const std::string& media_type) {
  const auto dot = media_type.rfind('.');
  return dot == std::string::npos ? std::string_view(media_type) : std::string_view(media_type).substr(dot + 1);
}

Naming naming_of(const OllamaLayer& layer) {
  const std::string_view type = type_of(layer.media_type);
  for (const Naming& naming : kNamings)
    if (naming.type == type) return naming;
  return layer.media_type.find("container.image") != std::string::npos ? kConfig : kUnknown;
}

// The names given so far, and the folders on the way to them.
class Names {
 public:
  bool is_free(const std::string& path) const { return paths_.count(path) == 0 && folders_.count(path) == 0; }
  // Fails: bad_format, for a path that is none or collides.
  Status take(const std::string& path) {
    const bool hidden = path == seal::kSealFolder || path.compare(0, 7, ".vouch/") == 0;
    if (!formats::is_plain_relative_path(path) || !is_utf8(path) || hidden)
      return fail(ErrorCode::bad_format, "a layer is called '" + printable(path) + "', which is no path inside a model");
    for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      const std::string folder = path.substr(0, slash);
      if (paths_.count(folder) != 0) return fail(ErrorCode::bad_format, "the layer '" + printable(path) + "' lies in a folder that is a layer too");
      folders_.insert(folder);
    }
    if (!is_free(path)) return fail(ErrorCode::bad_format, "two layers are called '" + printable(path) + "'");
    paths_.insert(path);
    return {};
  }
  // stem + ending, or with the first number from 2 that makes it free.
  std::string numbered(const Naming& naming) {
    const std::string first = std::string(naming.stem) + naming.ending;
    std::size_t& next = next_.try_emplace(first, 2).first->second;
    std::string path = first;
    while (!is_free(path)) path = std::string(naming.stem) + "-" + std::to_string(next++) + naming.ending;
    return path;
  }

 private:
  std::map<std::string, std::size_t> next_;  // number to try, by name without one
  std::set<std::string> paths_;
  std::set<std::string> folders_;
};

std::string own_path(const OllamaLayer& layer) { return (type_of(layer.media_type) == "tensor" ? "tensors/" : "") + layer.name; }

}  // namespace

Result<std::vector<NamedLayer>> name_layers(const formats::OllamaManifest& manifest) {
  std::vector<NamedLayer> named;
  Names names;
  for (const bool with_name : {true, false}) {  // names of their own first: a made-up name gives way
    for (const OllamaLayer& layer : manifest.layers) {
      if (layer.name.empty() == with_name) continue;
      const std::string path = with_name ? own_path(layer) : names.numbered(naming_of(layer));
      VOUCHFS_TRY(names.take(path));
      named.push_back({path, layer});
    }
  }
  std::sort(named.begin(), named.end(), [](const NamedLayer& a, const NamedLayer& b) { return a.path < b.path; });
  return named;
}

Result<std::vector<NamedLayer>> read_ollama_layers(const std::string& store_dir, const std::string& manifest) {
  const std::string shown = store_dir + "/" + manifest;
  VOUCHFS_ASSIGN(const std::string text, read_whole_file(AT_FDCWD, shown, kMaxManifestBytes, shown));
  if (text.empty()) return fail(ErrorCode::bad_format, "the manifest is empty: it was never written to the end", shown, kPullAgain);
  auto parsed = formats::parse_ollama_manifest(text);
  if (parsed) {
    auto named = name_layers(*parsed);
    if (named) return named;
    parsed = fail(std::move(named).error());
  }
  Error error = std::move(parsed).error();
  error.message = "the manifest cannot be used: " + error.message;
  error.where.file = shown;
  error.advice = kPullAgain;
  return fail(std::move(error));
}

std::string blob_name(const std::string& blobs_dir, const std::string& sha256) {
  struct stat info {};
  const std::string usual = "sha256-" + sha256;
  const std::string older = "sha256:" + sha256;
  const bool only_older = ::stat((blobs_dir + "/" + usual).c_str(), &info) != 0 && ::stat((blobs_dir + "/" + older).c_str(), &info) == 0;
  return only_older ? older : usual;
}

}  // namespace vouchfs::publisher
