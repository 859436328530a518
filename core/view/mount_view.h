// mount_view.h: the namespace of a mount: which names it shows, with which ids and attributes, and what is behind each.
// Layer:   core/view (5). Knows no FUSE; fs/ maps one operation to one call.
// Owns:    the models of the mount and every synthesized file's bytes; borrows the Runtime.
// Threads: the namespace is const after construction; live files are made when asked; safe for concurrent calls.
// Ids:     node ids are a pure function of (model digest, path, and in a store the model's name): a restarted daemon gives the same.
//          Id 1 is the root. Readdir cookies are positions in the sorted list of children; generation is always 0.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "view/node.h"
#include "view/pin_progress.h"
#include "view/sealed_model.h"

namespace vouchfs::view {

// What the mount adds to the status of its models (DESIGN section 7). A pid of 0: there is none.
struct MountFacts {
  std::string mount_point;
  std::uint64_t readahead_kb = 0;
  pid_t supervisor_pid = 0;
  pid_t worker_pid = 0;
  std::string version;  // of vouchfs
  std::string libfuse_version;
  std::shared_ptr<const PinProgress> pin;  // null when nothing is to be pinned
};

class MountView {
 public:
  // One model on the mount point itself.
  static Result<std::unique_ptr<MountView>> of_model(std::unique_ptr<SealedModel> model, Runtime& runtime);
  // Several under their names, with the global index.json; every name must be a plain file name and appear once.
  static Result<std::unique_ptr<MountView>> of_store(std::vector<std::unique_ptr<SealedModel>> models, Runtime& runtime);
  ~MountView();

  const Node* find(std::uint64_t id) const;
  const Node* lookup(std::uint64_t parent, std::string_view name) const;
  std::size_t node_count() const;
  std::uint64_t total_bytes() const;  // of all files, for statfs

  // Current bytes of a live file: status.json is one JSON object, events.jsonl one event a line.
  std::string live_content(const Node& node) const;
  // Extended attributes user.vouch.{fsverity,sha256,state,model}: value, or nullopt (ENODATA). Values are text without a newline;
  // digests are "sha256:HEX" for fsverity and model, HEX for sha256.
  std::optional<std::string> attribute(const Node& node, std::string_view name) const;
  std::vector<std::string> attribute_names(const Node& node) const;

  const std::vector<std::unique_ptr<SealedModel>>& models() const noexcept;
  Runtime& runtime() const noexcept;
  // Set once by fs/ after mounting, before the first status is asked for.
  void set_facts(MountFacts facts);
  // `vouchfs status --json` record without its "type": models[] {name, digest, trust, shards[], known_bad[], source, seal}, bytes_served, …
  std::string status_json(const std::optional<std::string>& only_model) const;

 private:
  struct Impl;
  explicit MountView(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace vouchfs::view
