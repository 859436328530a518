// publisher_check.h: what was hashed against what the publisher left: every file against all its evidence.
// Layer:   core/ingest (5).
// Rule:    `automatic` refuses what differs and notes what has no evidence; `require` refuses both (evidence files themselves need none); `off` looks at
// nothing. Errors:  untrusted: names the first file, both digests, the kind of evidence and where it comes from. Threads: const after construction.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/file_sealer.h"
#include "publisher/evidence.h"
#include "seal/provenance.h"

namespace vouchfs::ingest {

enum class PublisherMode { automatic, require, off };
// "auto", "require", "off".
const char* to_string(PublisherMode mode) noexcept;
std::optional<PublisherMode> publisher_mode_from(std::string_view word) noexcept;

// For people and records.
struct PublisherSummary {
  PublisherMode mode = PublisherMode::automatic;
  std::uint64_t ok = 0;                 // files that fit all their evidence
  std::vector<std::string> mismatches;  // one sentence a file that does not
  std::vector<std::string> without;     // files without evidence
  std::uint64_t exempt = 0;
  std::vector<std::string> absent;  // what the publisher's listing names and the model does not hold
  std::set<std::string> kinds;      // of the evidence that was used: "hf-tree"
};

class PublisherCheck {
 public:
  // Finds the evidence, unless the mode is off.
  PublisherCheck(PublisherMode mode, const publisher::Place& place, const std::vector<ScannedFile>& files);

  bool needs_git_sha1(const std::string& path) const;

  // The content of a file that is at most `limit` bytes, for the question whether a pointer lies in its place; nullopt when it cannot be had.
  using ReadSmall = std::function<std::optional<std::string>(const std::string& path, std::size_t limit)>;
  // `files` are sorted by path; each that needs one has its Git SHA-1. `table`: where no evidence tells a size, a header tells whether its file was cut.
  void judge(const std::vector<SealedFile>& files, const seal::TensorTable& table, const ReadSmall& read_small);

  const PublisherSummary& summary() const noexcept { return summary_; }
  // Sources that could not be used, and listed files that are absent: one sentence each.
  std::vector<std::string> warnings() const;
  // Fails: untrusted, as the mode says. `shown_root` is put before the names.
  Status verdict(const std::string& shown_root) const;
  seal::Provenance provenance(const hash::Digest& model_digest) const;

 private:
  void judge_file(const SealedFile& file, const seal::TensorTable& table, const ReadSmall& read_small);
  void add_mismatch(const SealedFile& file, const publisher::Evidence& wrong, const seal::TensorTable& table, const ReadSmall& read_small);
  PublisherMode mode_;
  publisher::EvidenceMap evidence_;
  PublisherSummary summary_;
  std::string first_bad_;                       // path
  bool first_bad_by_git_ = false;               // it differs by nothing but what Git converted
  std::map<std::string, std::string> sources_;  // path -> where it lies on disk, of files that go by another name there (Ollama's blobs)
  std::vector<seal::ProvenanceFile> files_;
};

}  // namespace vouchfs::ingest
