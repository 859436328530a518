// What HEAD of a Git repository says: the digest in a Git LFS pointer, or the name of the blob of a file that Git keeps itself.
#include "formats/lfs_pointer.h"
#include "publisher/evidence_sources.h"
#include "publisher/git_repository.h"

namespace vouchfs::publisher {
namespace {

Evidence evidence_of(const GitFile& file, const std::string& from) {
  const auto pointer = file.text ? formats::parse_lfs_pointer(*file.text) : std::nullopt;
  if (pointer) return {EvidenceKind::git_lfs, DigestKind::sha256, pointer->sha256, pointer->bytes, from};
  return {EvidenceKind::git_blob, DigestKind::git_sha1, file.git_sha1, file.bytes, from};
}

}  // namespace

void collect_git(Collector& collector) {
  const auto repository = GitRepository::around(collector.place().model_dir);
  if (!repository) return collector.note(cannot_use("the Git repository", repository.error()));
  if (*repository == nullptr || (*repository)->head().empty()) return;
  const std::string from = "git:" + (*repository)->head();
  std::size_t lacking = 0;
  const Status read = (*repository)->for_each_file([&](GitFile&& file) { collector.add(file.path, evidence_of(file, from), true); }, lacking);
  if (!read) collector.note(cannot_use("the Git repository", read.error()));
  if (lacking != 0)
    collector.note("the Git repository lacks " + std::to_string(lacking) + " blobs of HEAD (a partial clone?): these files have no evidence from it");
}

}  // namespace vouchfs::publisher
