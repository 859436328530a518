// node.h: one name of a mount: what it is and what is behind it.
// Layer:   core/view (5). Plain values, const once the namespace is built.
// Owns:    its name; content points into the NodeTree or into the seal of its model, which live as long as the mount.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hash/digest.h"

namespace vouchfs::view {

class SealedModel;

inline constexpr std::uint64_t kRootId = 1;

enum class NodeKind {
  folder,
  sealed_file,  // bytes come from a SealedModel
  fixed_file,   // bytes synthesized from the seal at mount: index.json, .vouch/manifest.json …
  live_file,    // made anew at each open: .vouch/status.json, .vouch/events.jsonl; served with direct I/O, no digest
};

enum class LiveContent { none, status, events };

struct Node {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;  // of the root: itself
  std::string name;
  NodeKind kind = NodeKind::folder;
  std::uint64_t bytes = 0;         // 0 for folders and live files
  std::int64_t mtime_seconds = 0;  // when the seal was published (mtime of manifest.json)
  SealedModel* model = nullptr;    // null for what belongs to a store as a whole
  std::size_t file_index = 0;      // sealed_file: index in the manifest
  std::string_view content;        // fixed_file: its bytes
  hash::Digest fsverity{};         // sealed_file and fixed_file; of a mended file those of what is shown, and so is `bytes`
  hash::Digest sha256{};           // sealed_file and fixed_file
  LiveContent live = LiveContent::none;
  std::vector<std::uint64_t> children;  // folder: ids, sorted by name bytewise
  std::uint64_t subfolders = 0;         // folder: for st_nlink
};

}  // namespace vouchfs::view
