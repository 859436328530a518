#include "publisher/evidence.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/utf8.h"
#include "formats/store_files.h"
#include "publisher/evidence_sources.h"
#include "publisher/ollama_store.h"

namespace vouchfs::publisher {
namespace {

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool needs_none(const std::string& path) {
  const std::string name = file_name(path);
  return name == ".gitattributes" || formats::is_checksum_list_name(name);
}

// In a folder that is no part of a model: `find . -type f -exec sha256sum {} +` lists the files of .git and .cache too.
bool is_left_out(const std::string& path) {
  for (const auto& part : std::filesystem::path(path))
    if (part == ".vouch" || part == ".git" || part == ".cache") return true;
  return false;
}

}  // namespace

const char* to_string(EvidenceKind kind) noexcept {
  switch (kind) {
    case EvidenceKind::hf_blob:
      return "hf-blob";
    case EvidenceKind::hf_tree:
      return "hf-tree";
    case EvidenceKind::hf_local_dir:
      return "hf-local-dir";
    case EvidenceKind::git_lfs:
      return "git-lfs";
    case EvidenceKind::git_blob:
      return "git-blob";
    case EvidenceKind::ollama:
      return "ollama";
    case EvidenceKind::sha256sums:
      return "sha256sums";
  }
  return "sha256sums";
}

std::string cannot_use(const std::string& what, const Error& error) { return printable(what) + " cannot be used: " + printable(error.describe()); }

void Collector::add(const std::string& path, Evidence evidence, bool whole_listing) {
  if (holds(path))
    map_.files[path].push_back(std::move(evidence));
  else if (whole_listing && !needs_none(path) && !is_left_out(path))
    absent_.try_emplace(path, std::move(evidence));
}

EvidenceMap Collector::take() && {
  for (auto& [path, list] : map_.files)
    std::stable_sort(list.begin(), list.end(), [](const Evidence& a, const Evidence& b) { return std::pair(a.digest, a.kind) < std::pair(b.digest, b.kind); });
  for (auto& [path, evidence] : absent_) map_.absent.push_back({path, std::move(evidence)});
  return std::move(map_);
}

void collect_ollama(Collector& collector) {
  const Place& place = collector.place();
  if (place.kind != PlaceKind::ollama) return;
  const auto layers = read_ollama_layers(place.store_dir, place.manifest);
  if (!layers) return collector.note(cannot_use(place.manifest, layers.error()));
  for (const NamedLayer& named : *layers)
    collector.add(named.path, {EvidenceKind::ollama, DigestKind::sha256, named.layer.sha256, named.layer.bytes, place.manifest}, true);
}

EvidenceMap find_evidence(const Place& place, const std::vector<std::string>& paths) {
  Collector collector(place, paths);
  for (const std::string& path : paths)
    if (needs_none(path)) collector.exempt(path);
  collect_ollama(collector);
  if (place.kind == PlaceKind::ollama) return std::move(collector).take();
  collect_hf_blobs(collector);
  collect_hf_trees(collector);
  collect_hf_notes(collector);
  collect_git(collector);
  collect_checksum_lists(collector);
  return std::move(collector).take();
}

}  // namespace vouchfs::publisher
