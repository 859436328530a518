// evidence.h: every digest a publisher left on this disk for the files of a model. Reads small files only, and no network.
// Layer:  core/publisher (4).
// Source: huggingface_hub's cache and local-dir layout, Git and Git LFS (objects loose or packed, by libgit2), Ollama's manifests, SHA256SUMS.
// Errors: none for a source that is absent; one that is there and cannot be read becomes a note, because it is no evidence.
// Cost:   a few small reads for each source; git: the tree of HEAD and its small blobs.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "publisher/place.h"

namespace vouchfs::publisher {

enum class EvidenceKind { hf_blob, hf_tree, hf_local_dir, git_lfs, git_blob, ollama, sha256sums };
// "hf-blob", "hf-tree", "hf-local-dir", "git-lfs", "git-blob", "ollama", "sha256sums": the words of provenance.json.
const char* to_string(EvidenceKind kind) noexcept;

enum class DigestKind { sha256, git_sha1 };  // git_sha1: SHA-1 of "blob <size>\0" and the content

struct Evidence {
  EvidenceKind kind = EvidenceKind::sha256sums;
  DigestKind digest = DigestKind::sha256;
  std::string hex;                     // lower case, 64 or 40 digits
  std::optional<std::uint64_t> bytes;  // the size the publisher gave
  std::string from;                    // what says so, relative to the model where it lies in it: "SHA256SUMS", "trees/<commit>.json"
};

// What a publisher's whole listing names and the model does not hold; not what a model leaves out (.vouch, .git, .cache).
struct AbsentFile {
  std::string path;
  Evidence evidence;
};

struct EvidenceMap {
  std::map<std::string, std::vector<Evidence>> files;  // by path of the model; strongest first (SHA-256 before git SHA-1)
  std::set<std::string> exempt;                        // evidence files themselves: SHA256SUMS, *.sha256, .gitattributes
  std::vector<AbsentFile> absent;                      // sorted by path
  std::vector<std::string> notes;                      // sources that could not be used, one sentence each
};

// `paths`: the files of the model as a scan found them (for Ollama those of place.files).
EvidenceMap find_evidence(const Place& place, const std::vector<std::string>& paths);

// A file of this SHA-256 in a store that lies beside the model (.git/lfs/objects, the blobs of its Hugging Face cache or Ollama store), or nullopt: the content
// behind an LFS pointer. The path is absolute or relative like place.model_dir. Size is compared, content is not read.
std::optional<std::string> find_content(const Place& place, const std::string& sha256, std::uint64_t bytes);

// True when this build has libgit2 and so looks into Git repositories.
bool can_read_git() noexcept;

}  // namespace vouchfs::publisher
