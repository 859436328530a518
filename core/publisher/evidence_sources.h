// evidence_sources.h: the places where publishers leave digests, one function each. Internal to core/publisher.
// Layer: core/publisher (4).
// Rule:  each adds what it finds; what is absent is no trouble, what cannot be read is a note.
#pragma once

#include <string>
#include <vector>

#include "publisher/evidence.h"

namespace vouchfs::publisher {

// Evidence while it is collected.
class Collector {
 public:
  Collector(const Place& place, const std::vector<std::string>& paths) : place_(place), paths_(paths.begin(), paths.end()) {}

  const Place& place() const noexcept { return place_; }
  const std::set<std::string>& paths() const noexcept { return paths_; }
  bool holds(const std::string& path) const { return paths_.count(path) != 0; }
  // A file of the model's folder: "a/b" -> model_dir/a/b.
  std::string on_disk(const std::string& path) const { return place_.model_dir + "/" + path; }

  // To the file when the model holds it; else, when `whole_listing`, to what is absent.
  void add(const std::string& path, Evidence evidence, bool whole_listing);
  void exempt(const std::string& path) { map_.exempt.insert(path); }
  void note(std::string sentence) { map_.notes.push_back(std::move(sentence)); }
  EvidenceMap take() &&;

 private:
  const Place& place_;
  const std::set<std::string> paths_;
  std::map<std::string, Evidence> absent_;
  EvidenceMap map_;
};

void collect_hf_blobs(Collector& collector);        // names of the blobs that links lead to
void collect_hf_trees(Collector& collector);        // trees/<commit>.json of a cache or of a local dir
void collect_hf_notes(Collector& collector);        // .cache/huggingface/download/<path>.metadata
void collect_git(Collector& collector);             // HEAD of the repository around the model
void collect_checksum_lists(Collector& collector);  // SHA256SUMS, NAME.sha256
void collect_ollama(Collector& collector);          // the manifest's layers

// A sentence for a note.
std::string cannot_use(const std::string& what, const Error& error);

}  // namespace vouchfs::publisher
