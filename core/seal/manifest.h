// manifest.h: manifest.json: what is sealed. Its fs-verity digest is the model digest.
// Layer:  core/seal (3). Uses base, hash, formats.
// Format: docs/formats/seal.md: UTF-8, sorted keys, files sorted by path bytewise, one trailing newline, no floats.
// Errors: bad_format with the byte or the path concerned.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hash/digest.h"

namespace vouchfs::seal {

inline constexpr std::uint64_t kMaxManifestBytes = 256ULL << 20;
inline constexpr std::size_t kMaxFiles = 1'000'000;
inline constexpr std::size_t kMaxPathBytes = 4095;  // PATH_MAX less the NUL
inline constexpr std::size_t kMaxNameBytes = 255;   // NAME_MAX
inline constexpr std::uint64_t kMaxFileBytes = 1ULL << 60;

struct ManifestFile {
  std::string path;  // relative, '/' between names, no "." or ".." or empty names, valid UTF-8
  std::uint64_t bytes = 0;
  hash::Digest fsverity{};
  hash::Digest sha256{};
  bool operator==(const ManifestFile&) const = default;
};

struct Manifest {
  std::vector<ManifestFile> files;  // sorted by path, bytewise; no path twice, none a folder of another
  std::uint64_t tensors_bytes = 0;  // the tensor table
  hash::Digest tensors_fsverity{};
  bool operator==(const Manifest&) const = default;
};

// Whether a path may stand in a manifest; the Status says why not.
Status check_path(std::string_view path);

// The one text for a manifest. Requires sorted files.
std::string write_manifest(const Manifest& manifest);
// Accepts other whitespace and unknown keys; refuses another format, version, hash or block size, duplicate, unsorted or unsafe paths,
// floats, and numbers out of range. Bounded by the limits above.
Result<Manifest> parse_manifest(std::string_view text);

}  // namespace vouchfs::seal
