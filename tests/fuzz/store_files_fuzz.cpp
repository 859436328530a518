// Any bytes as each of the small files that stores and publishers leave: listings, download notes, Ollama manifests, checksum lists, LFS pointers.
#include <cstdint>
#include <set>
#include <string>

#include "base/utf8.h"
#include "formats/hex_text.h"
#include "formats/lfs_pointer.h"
#include "formats/shard_groups.h"
#include "formats/store_files.h"
#include "publisher/ollama_store.h"
#include "require.h"

using namespace vouchfs;
using namespace vouchfs::formats;

namespace {

bool is_digest(const std::string& hex, std::size_t digits) { return lower_hex(hex, digits) == hex; }

void check_tree(std::string_view text) {
  const auto tree = parse_hf_tree(text);
  if (!tree) return;
  for (const auto& [path, file] : *tree) {
    REQUIRE(is_plain_relative_path(path));
    REQUIRE(file.sha256.empty() || is_digest(file.sha256, kSha256Digits));
    REQUIRE(file.git_sha1.empty() || is_digest(file.git_sha1, kSha1Digits));
  }
}

void check_note(std::string_view text) {
  const auto note = parse_hf_download_note(text);
  if (!note) return;
  REQUIRE(is_digest(note->commit, kSha1Digits));
  REQUIRE(is_digest(note->etag, kSha256Digits) || is_digest(note->etag, kSha1Digits));
  REQUIRE(note->stamp - note->stamp == 0);  // finite
}

// However hostile the names: every layer gets a path of its own inside the model.
void check_ollama(std::string_view text) {
  const auto manifest = parse_ollama_manifest(text);
  if (!manifest) return;
  for (const OllamaLayer& layer : manifest->layers) REQUIRE(is_digest(layer.sha256, kSha256Digits));
  const auto named = publisher::name_layers(*manifest);
  if (!named) return;
  REQUIRE(named->size() == manifest->layers.size());
  std::set<std::string> paths;
  for (const publisher::NamedLayer& layer : *named) {
    REQUIRE(is_plain_relative_path(layer.path) && is_utf8(layer.path) && layer.path.compare(0, 7, ".vouch/") != 0);
    REQUIRE(paths.insert(layer.path).second);
  }
  for (const std::string& path : paths)
    for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) REQUIRE(paths.count(path.substr(0, slash)) == 0);
}

void check_list(std::string_view text) {
  const auto list = parse_sha256sums(text);
  if (!list) return;
  REQUIRE((list->odd_lines == 0) == list->first_odd_line.empty());
  for (const ChecksumLine& line : list->lines) REQUIRE(is_digest(line.sha256, kSha256Digits) && line.file.find('\0') == std::string::npos);
}

void check_pointer(std::string_view text) {
  const auto pointer = parse_lfs_pointer(text);
  if (!pointer) return;
  // The same pointer in its plain form is one too.
  const std::string plain = "version https://git-lfs.github.com/spec/v1\noid sha256:" + pointer->sha256 + "\nsize " + std::to_string(pointer->bytes) + "\n";
  const auto again = parse_lfs_pointer(plain);
  REQUIRE(again && again->sha256 == pointer->sha256 && again->bytes == pointer->bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_tree(text);
  check_note(text);
  check_ollama(text);
  check_list(text);
  check_pointer(text);
  [[maybe_unused]] const auto name = publisher::parse_ollama_name(std::string(text));
  return 0;
}
