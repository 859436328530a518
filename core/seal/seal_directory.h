// seal_directory.h: names and places inside a seal, and opening one for reading.
// Layer:   core/seal (3).
// Owns:    a descriptor of the seal directory; trees are opened on demand by their digest.
// Threads: const after open; safe for concurrent calls.
// Errors:  not_found (no seal there), untrusted (it does not fit the pinned digest, or the tensor table does not fit the manifest),
//          bad_format (a manifest that cannot be read), io.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "hash/sha256.h"
#include "seal/manifest.h"
#include "seal/tensor_table.h"

namespace vouchfs::seal {

inline constexpr const char* kSealFolder = ".vouch";
inline constexpr const char* kManifestName = "manifest.json";
inline constexpr const char* kProvenanceName = "provenance.json";
inline constexpr const char* kTreesFolder = "trees";
inline constexpr const char* kTablesFolder = "tables";
inline constexpr const char* kWorkFolder = "work";

// "trees/<hex>.tree" and "tables/<hex>.json", relative to the seal directory.
std::string tree_path(const hash::Digest& file_digest);
std::string table_path(const hash::Digest& table_digest);
// Where the seal of a model lies: seal_dir when given, else MODEL/.vouch.
std::string seal_path(const std::string& model_dir, const std::optional<std::string>& seal_dir);

struct OpenedSeal {
  UniqueFd directory;         // O_PATH-like descriptor of the seal directory
  std::string path;           // for messages
  std::string manifest_text;  // exactly as on disk
  std::string table_text;     // exactly as on disk
  Manifest manifest;
  TensorTable table;
  hash::Digest model_digest{};  // fs-verity digest of manifest_text
};

// Reads manifest and tensor table and checks them: the manifest against `pinned` when given, the table always against the manifest.
Result<OpenedSeal> open_seal(const std::string& seal_dir, const std::optional<hash::Digest>& pinned, const hash::Sha256Engine& engine);

}  // namespace vouchfs::seal
