// checks.h: the checks of doctor, one file each (check_NAME.cpp): a check reads facts and adds findings, and knows no other check.
// Layer:   core/doctor (5).
// Threads: checks share nothing; deep checks run on one thread a file.
// Rule:    a check speaks only of what it is sure of; of two explanations of one fact the one nearer the cause is said (a pointer is not also "truncated").
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "doctor/facts.h"
#include "doctor/finding.h"

namespace vouchfs::doctor {

// Collects findings; fills in severity, loader texts and advice from the catalogue where a check left them empty.
class Findings {
 public:
  // Requires: the code is in the catalogue.
  void add(Finding finding);
  const std::vector<Finding>& all() const noexcept { return findings_; }
  std::vector<Finding> take() && { return std::move(findings_); }
  // True when a file has an error already: later checks of the same file say nothing more about the same cause.
  bool has_error(const std::string& shown_path) const;

 private:
  std::vector<Finding> findings_;
  std::unordered_set<std::string> with_error_;  // files
};

struct Check {
  std::string_view name;  // "lfs_pointer"
  void (*run)(const ModelFacts& model, Findings& findings);
};

// In the order they run: what a file is, before what is wrong inside it, before how files fit together.
std::span<const Check> model_checks();

// ---- check_*.cpp, each documented in its own file ----
void check_access(const ModelFacts& model, Findings& findings);             // unreadable, dangling, loops, special files, folders that cannot be listed
void check_downloads(const ModelFacts& model, Findings& findings);          // downloads that have not ended
void check_lfs_pointer(const ModelFacts& model, Findings& findings);        // pointers in place of files; looks for the content beside the model
void check_foreign_content(const ModelFacts& model, Findings& findings);    // web pages, error texts, other formats under a weight name, BOM
void check_empty_file(const ModelFacts& model, Findings& findings);         // 0 to 7 bytes
void check_never_written(const ModelFacts& model, Findings& findings);      // holes, zero-filled heads
void check_publisher_size(const ModelFacts& model, Findings& findings);     // size against evidence; files the publisher's listing names and that are absent
void check_safetensors(const ModelFacts& model, Findings& findings);        // rules of the header, cut files, trailing bytes, dtypes and the versions they need
void check_safetensors_notes(const ModelFacts& model, Findings& findings);  // no format in __metadata__, unaligned data, no tensors
void check_gguf(const ModelFacts& model, Findings& findings);
void check_gguf_split(const ModelFacts& model, Findings& findings);
void check_torch_container(const ModelFacts& model, Findings& findings);  // central directory, records, legacy length
void check_torch_globals(const ModelFacts& model, Findings& findings);    // what the pickle would call
void check_index(const ModelFacts& model, Findings& findings);            // index files: JSON, keys, entries against headers
void check_shards(const ModelFacts& model, Findings& findings);           // missing shards, gaps in numbers, no index
void check_layouts(const ModelFacts& model, Findings& findings);          // the same tensors twice, two index kinds, consolidated beside shards, variants only
void check_adapter(const ModelFacts& model, Findings& findings);          // adapter only, empty adapter
void check_config(const ModelFacts& model, Findings& findings);      // config.json against tensors: partitioned saves, missing layers; json that does not parse
void check_pipeline(const ModelFacts& model, Findings& findings);    // model_index.json of diffusers against the folders of its components
void check_text_files(const ModelFacts& model, Findings& findings);  // JSON files of the model that are pointers, pages, empty, or have a BOM
void check_hub_cache(const ModelFacts& model, Findings& findings);   // refs, .no_exist, .incomplete of the cache the snapshot lies in
void check_ollama(const ModelFacts& model, Findings& findings);      // layers absent or of another size, partial downloads
void check_seal(const ModelFacts& model, Findings& findings);        // files and sizes against the seal
void check_holes(const ModelFacts& model, Findings& findings);       // tensor data that was never written to disk
void check_mount(const ModelFacts& model, Findings& findings);  // filesystem the model lies on: network mounts and the loader flags worth knowing; dead mounts

}  // namespace vouchfs::doctor
