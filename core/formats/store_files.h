// store_files.h: the small files in which model stores keep what a publisher said: listings, manifests, download notes, checksum lists.
// Layer:  core/formats (2). Pure functions over bounded text.
// Source: huggingface_hub (trees/<commit>.json, <file>.metadata, refs), Ollama (manifests), coreutils (SHA256SUMS).
// Errors: bad_format with what and where.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace vouchfs::formats {

inline constexpr std::uint64_t kMaxStoreFileBytes = 256ULL << 20;

// trees/<commit>.json: the publisher's whole listing.
struct HfTreeFile {
  std::uint64_t bytes = 0;
  std::string git_sha1;                    // blob_id; empty when absent
  std::string sha256;                      // lfs_sha256; empty for a file kept in git
  std::optional<std::uint64_t> lfs_bytes;  // lfs_size
};
Result<std::map<std::string, HfTreeFile>> parse_hf_tree(std::string_view text);

// .cache/huggingface/download/<path>.metadata of `--local-dir`: commit, etag and time stamp, a line each.
struct HfDownloadNote {
  std::string commit;
  std::string etag;  // 64 hex digits (SHA-256) or 40 (git blob SHA-1)
  double stamp = 0;  // seconds since 1970; the note speaks of the file while mtime - 1 <= stamp
};
Result<HfDownloadNote> parse_hf_download_note(std::string_view text);

// models/manifests/<host>/<namespace>/<model>/<tag>.
struct OllamaLayer {
  std::string media_type;  // "application/vnd.ollama.image.model"
  std::string sha256;      // 64 hex digits
  std::uint64_t bytes = 0;
  std::string name;  // of tensor layers; else empty
};
struct OllamaManifest {
  std::vector<OllamaLayer> layers;  // in the manifest's order, the config last
};
Result<OllamaManifest> parse_ollama_manifest(std::string_view text);

// SHA256SUMS and <file>.sha256: "HEX  NAME", "HEX *NAME", the BSD form "SHA256 (NAME) = HEX", escaped names ("\HEX  a\nb"), and "HEX" alone, as many
// a <file>.sha256 has it.
struct ChecksumLine {
  std::string file;    // as written; empty for a line that has none
  std::string sha256;  // 64 hex digits, lower case
};
struct ChecksumList {
  std::vector<ChecksumLine> lines;
  std::size_t odd_lines = 0;   // lines that are none of the forms: the armour of a signature, a line of another hash
  std::string first_odd_line;  // its number and its text, printable; empty when there is none
};
// Blank lines and lines that begin with '#' are passed over. A line that is none of the forms is counted and voids no other, as sha256sum -c has it.
// Fails: bad_format, with the first such line, when there are some and no checksum line beside them.
Result<ChecksumList> parse_sha256sums(std::string_view text);

// True for SHA256SUMS, sha256sums.txt, SHA256SUMS.txt, checksums.sha256, sha256sum.txt and NAME.sha256.
bool is_checksum_list_name(std::string_view file_name);

}  // namespace vouchfs::formats
