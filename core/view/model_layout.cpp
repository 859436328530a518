#include "view/model_layout.h"

#include <algorithm>
#include <set>

#include "merkle/digest_file.h"
#include "view/synthesized_index.h"

namespace vouchfs::view {
namespace {

using formats::IndexRecord;
using formats::IndexVerdict;

constexpr const char* kOriginal = ".orig";

NewNode sealed_file(const seal::OpenedSeal& seal, std::size_t index, const std::set<std::string>& moved) {
  const seal::ManifestFile& file = seal.manifest.files[index];
  NewNode node;
  node.path = moved.contains(file.path) ? file.path + kOriginal : file.path;
  node.what = "the sealed file '" + file.path + "'";
  node.kind = NodeKind::sealed_file;
  node.bytes = file.bytes;
  node.file_index = index;
  node.fsverity = file.fsverity;
  node.sha256 = file.sha256;
  if (const seal::FileFix* fix = seal::find_fix(seal.table, file.path)) {
    node.bytes = fix->bytes;
    node.fsverity = fix->fsverity;
    node.sha256 = fix->sha256;
  }
  return node;
}

// Names of sealed files that give way to a synthesized one.
std::set<std::string> moved_files(const seal::TensorTable& table) {
  std::set<std::string> moved = {"index.json"};
  for (const IndexRecord& record : table.indexes)
    if (record.verdict == IndexVerdict::wrong && record.made()) moved.insert(index_path(record));
  return moved;
}

std::string change_text(const formats::IndexCorrection& change) {
  const auto shown = [](const std::string& value) { return value.empty() ? std::string("nothing") : "'" + value + "'"; };
  return change.tensor + ": was " + shown(change.was) + ", is " + shown(change.now);
}

std::string treatment_of(const IndexRecord& record) {
  if (record.made()) return "it is kept as " + index_path(record) + kOriginal;
  if (!formats::has_headers(record.family))
    return "it is served as it is: headers of " + std::string(formats::shard_ending(record.family)) + " files are not read";
  return "it is served as it is, because of " + record.unknown_files.front() + " no tensor is known, and a corrected one would make the model look complete";
}

}  // namespace

NewNode fixed_file(std::string path, std::string what, std::string_view content, const hash::Sha256Engine& engine) {
  NewNode node;
  node.path = std::move(path);
  node.what = std::move(what);
  node.kind = NodeKind::fixed_file;
  node.bytes = content.size();
  node.content = content;
  node.fsverity = merkle::digest_bytes({reinterpret_cast<const std::uint8_t*>(content.data()), content.size()}, engine);
  node.sha256 = hash::sha256(content);
  return node;
}

NewNode live_file(std::string path, LiveContent live) {
  NewNode node;
  node.what = "the synthesized file '" + path + "'";
  node.path = std::move(path);
  node.kind = NodeKind::live_file;
  node.live = live;
  return node;
}

std::vector<NewNode> model_layout(const SealedModel& model, NodeTree& tree, const hash::Sha256Engine& engine) {
  const seal::OpenedSeal& seal = model.seal();
  const std::set<std::string> moved = moved_files(seal.table);
  std::vector<NewNode> out;
  const auto add_made = [&](const std::string& path, std::string_view content) {
    out.push_back(fixed_file(path, "the synthesized file '" + path + "'", content, engine));
  };
  for (std::size_t i = 0; i < seal.manifest.files.size(); ++i) out.push_back(sealed_file(seal, i, moved));
  add_made("index.json", tree.keep(root_index(seal)));
  for (const IndexRecord& record : seal.table.indexes)
    if (record.made()) add_made(index_path(record), tree.keep(folder_index(seal.table, record)));
  add_made(".vouch/manifest.json", seal.manifest_text);
  add_made(".vouch/tensors.json", seal.table_text);
  add_made(".vouch/digest", tree.keep(hash::to_text(seal.model_digest) + "\n"));
  out.push_back(live_file(".vouch/status.json", LiveContent::status));
  out.push_back(live_file(".vouch/events.jsonl", LiveContent::events));
  std::stable_sort(out.begin(), out.end(), [](const NewNode& a, const NewNode& b) { return a.path < b.path; });
  return out;
}

std::vector<observe::Event> index_events(const SealedModel& model) {
  std::vector<observe::Event> out;
  for (const IndexRecord& record : model.seal().table.indexes) {
    if (record.verdict != IndexVerdict::wrong) continue;
    observe::Event event;
    event.event = "index_corrected";
    if (!record.made()) event.event = "index_wrong";
    event.model = model.name();
    event.file = index_path(record);
    for (const auto& change : record.corrections) {
      event.changes.push_back(change_text(change));
      if (change.tensor != "metadata.total_size") event.tensors.push_back(change.tensor);
    }
    event.changes.insert(event.changes.end(), record.problems.begin(), record.problems.end());
    event.result = "served";
    event.detail = formats::has_headers(record.family) ? "the publisher's index differs from the headers of its shards; " : "the publisher's index is broken; ";
    event.detail += treatment_of(record);
    out.push_back(std::move(event));
  }
  return out;
}

}  // namespace vouchfs::view
