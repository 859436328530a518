#include "view/node_tree.h"

#include <algorithm>

#include "view/node_ids.h"

namespace vouchfs::view {
namespace {

std::string place_key(std::uint64_t parent, std::string_view name) { return std::to_string(parent).append(1, '/').append(name); }

Error clash(const std::string& path, const std::string& first, const std::string& second) {
  return make_error(ErrorCode::invalid_argument, first + " and " + second + " would both be shown as '" + path + "'", path,
                    "rename or remove one of them in the model and ingest it again");
}

}  // namespace

NodeTree::NodeTree() {
  Node& root = nodes_[kRootId];
  root.id = kRootId;
  root.parent = kRootId;
}

void NodeTree::set_root(SealedModel* model, std::int64_t mtime_seconds) {
  Node& root = nodes_.at(kRootId);
  root.model = model;
  root.mtime_seconds = mtime_seconds;
}

std::uint64_t NodeTree::id_for(const NodeScope& scope, const std::string& path) const {
  return first_free_id([&](unsigned attempt) { return wished_id(scope.model_digest, scope.model_name, path, attempt); },
                       [&](std::uint64_t id) { return nodes_.contains(id); });
}

Result<std::uint64_t> NodeTree::add_model_folder(const NodeScope& scope, const std::string& name) {
  NewNode folder;
  folder.what = "the model '" + name + "'";
  return add(scope, kRootId, name, folder);
}

Status NodeTree::add_file(const NodeScope& scope, const NewNode& file) {
  VOUCHFS_ASSIGN(const std::uint64_t parent, folder_of(scope, file.path, file.what));
  VOUCHFS_TRY(add(scope, parent, file.path.substr(file.path.rfind('/') + 1), file));
  return {};
}

// The folder that the last name of `path` goes into; made when it is not there.
Result<std::uint64_t> NodeTree::folder_of(const NodeScope& scope, const std::string& path, const std::string& wanted_by) {
  std::uint64_t at = scope.top;
  std::size_t begin = 0;
  for (std::size_t slash = path.find('/'); slash != std::string::npos; begin = slash + 1, slash = path.find('/', begin)) {
    const std::string name = path.substr(begin, slash - begin);
    if (const auto found = by_place_.find(place_key(at, name)); found != by_place_.end()) {
      if (nodes_.at(found->second.id).kind != NodeKind::folder) return fail(clash(path.substr(0, slash), found->second.what, "the folder of " + wanted_by));
      at = found->second.id;
      continue;
    }
    NewNode folder;
    folder.path = path.substr(0, slash);
    folder.what = "the folder of " + wanted_by;
    VOUCHFS_ASSIGN(at, add(scope, at, name, folder));
  }
  return at;
}

Result<std::uint64_t> NodeTree::add(const NodeScope& scope, std::uint64_t parent, const std::string& name, const NewNode& what) {
  const auto [placed, fresh] = by_place_.try_emplace(place_key(parent, name));
  if (!fresh) return fail(clash(what.path.empty() ? name : what.path, placed->second.what, what.what));
  const std::uint64_t id = id_for(scope, what.path);
  placed->second = {id, what.what};
  nodes_[id] = {id,          parent,    name, what.kind, what.bytes, scope.mtime_seconds, scope.model, what.file_index, what.content, what.fsverity,
                what.sha256, what.live, {},   0};
  Node& folder = nodes_.at(parent);
  folder.children.push_back(id);
  if (what.kind == NodeKind::folder) ++folder.subfolders;
  total_bytes_ += what.bytes;
  return id;
}

void NodeTree::finish() {
  const auto by_name = [this](std::uint64_t a, std::uint64_t b) { return nodes_.at(a).name < nodes_.at(b).name; };
  for (auto& [id, node] : nodes_) std::sort(node.children.begin(), node.children.end(), by_name);
  by_place_ = {};
}

const Node* NodeTree::find(std::uint64_t id) const {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : &found->second;
}

const Node* NodeTree::lookup(std::uint64_t parent, std::string_view name) const {
  const Node* folder = find(parent);
  if (folder == nullptr) return nullptr;
  const auto& ids = folder->children;
  const auto at = std::lower_bound(ids.begin(), ids.end(), name, [this](std::uint64_t id, std::string_view wanted) { return nodes_.at(id).name < wanted; });
  if (at == ids.end() || nodes_.at(*at).name != name) return nullptr;
  return &nodes_.at(*at);
}

}  // namespace vouchfs::view
