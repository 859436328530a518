// provenance.h: provenance.json: what ingest checked each file against, and what a publisher's listing names that is not there.
// Layer:  core/seal (3). Plain values and one text for them.
// Format: docs/formats/seal.md, as of every JSON file of a seal; files sorted by path. No paths of this machine: the same files and evidence
//         give the same bytes everywhere.
// Trust:  not covered by the model digest: a record for people, never a reason to serve bytes. One whose model_digest is not the manifest's says nothing.
#pragma once

#include <string>
#include <vector>

#include "hash/digest.h"

namespace vouchfs::seal {

// One digest of the publisher.
struct PublisherDigest {
  std::string kind;    // "hf-tree", "git-lfs" …
  std::string digest;  // "sha256:HEX" or "git-sha1:HEX"
  std::string from;    // what says so: "SHA256SUMS", "trees/<commit>.json"
};

enum class ProvenanceResult { ok, mismatch, absent, exempt, unchecked };
// "ok"; "mismatch" (never in a published seal unless the check was off); "absent": no evidence; "exempt": an evidence file itself; "unchecked".
const char* to_string(ProvenanceResult result) noexcept;

struct ProvenanceFile {
  std::string path;
  ProvenanceResult result = ProvenanceResult::absent;
  std::vector<PublisherDigest> checked;  // each with this result
};

struct AbsentPublisherFile {
  std::string path;
  PublisherDigest digest;
};

struct Provenance {
  hash::Digest model_digest{};
  std::string check;                         // "auto", "require", "off"
  std::vector<ProvenanceFile> files;         // sorted by path
  std::vector<AbsentPublisherFile> missing;  // sorted by path
};

std::string write_provenance(const Provenance& provenance);

}  // namespace vouchfs::seal
