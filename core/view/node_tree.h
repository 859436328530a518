// node_tree.h: the tree of names of a mount, built once, then only read.
// Layer:   core/view (5).
// Owns:    the nodes, and the bytes of fixed files that were made for it.
// Threads: building belongs to one thread; after finish() everything is const and safe for concurrent calls.
// Errors:  invalid_argument when two things want one name; both are named.
// Cost:    find is one hash lookup, lookup a binary search over the children of one folder.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "hash/sha256.h"
#include "view/node.h"

namespace vouchfs::view {

// What a run of names has in common: whose they are, below which folder they go, and what their ids are made of.
struct NodeScope {
  std::uint64_t top = kRootId;  // the folder that paths of this scope start from
  SealedModel* model = nullptr;
  hash::Digest model_digest{};  // zeros for the store itself
  std::string model_name;       // in a store; else empty
  std::int64_t mtime_seconds = 0;
};

// A node to be and the words that name it in an error: "the sealed file 'a/index.json'".
struct NewNode {
  std::string path;  // below the scope's top; '/' between names
  std::string what;
  NodeKind kind = NodeKind::folder;
  std::uint64_t bytes = 0;
  std::size_t file_index = 0;
  std::string_view content;
  hash::Digest fsverity{};
  hash::Digest sha256{};
  LiveContent live = LiveContent::none;
};

class NodeTree {
 public:
  NodeTree();
  // The folder of a model in a store; ids of what is below come from the scope, its own from the empty path.
  Result<std::uint64_t> add_model_folder(const NodeScope& scope, const std::string& name);
  // Adds a file; folders on the way are made. Names must be added in a fixed order (sorted by path), for the ids' sake.
  Status add_file(const NodeScope& scope, const NewNode& file);
  // Keeps bytes for as long as the tree lives.
  std::string_view keep(std::string bytes) { return kept_.emplace_back(std::move(bytes)); }
  void set_root(SealedModel* model, std::int64_t mtime_seconds);
  // Sorts the children. Nothing may be added afterwards.
  void finish();

  const Node* find(std::uint64_t id) const;
  const Node* lookup(std::uint64_t parent, std::string_view name) const;
  std::size_t size() const noexcept { return nodes_.size(); }
  std::uint64_t total_bytes() const noexcept { return total_bytes_; }

 private:
  Result<std::uint64_t> folder_of(const NodeScope& scope, const std::string& path, const std::string& wanted_by);
  Result<std::uint64_t> add(const NodeScope& scope, std::uint64_t parent, const std::string& name, const NewNode& what);
  std::uint64_t id_for(const NodeScope& scope, const std::string& path) const;

  struct Placed {
    std::uint64_t id = 0;
    std::string what;
  };
  std::unordered_map<std::uint64_t, Node> nodes_;
  std::unordered_map<std::string, Placed> by_place_;  // "parent id/name"; emptied by finish()
  std::deque<std::string> kept_;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace vouchfs::view
