// file_sealer.h: everything a seal says about one file, from one read of it that nothing disturbed.
// Layer:   core/ingest (5).
// Errors:  changed (its identity differs before and after, or from the scan), io, cancelled; each names the file.
// Threads: seal() is safe for concurrent calls for different files.
// Cost:    one read, and one more of a file that is mended in the view; the header of a weight file, or an index, is read once more from the page cache.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "formats/shard_index.h"
#include "ingest/fixes.h"
#include "ingest/hash_file.h"
#include "ingest/scan.h"
#include "ingest/work_folder.h"
#include "seal/manifest.h"
#include "seal/tensor_table.h"

namespace vouchfs::ingest {

struct SealedFile {
  seal::ManifestFile entry;
  std::optional<seal::TableFile> table;       // a weight file of any format
  std::optional<formats::ParsedIndex> index;  // an index of a family we know
  std::optional<seal::FileFix> fix;           // how a view mends it, when that was wished and is needed
  std::string fix_trouble;                    // why a fix that was wished cannot be made
  std::optional<hash::GitSha1> git_sha1;      // when options asked for it
  bool resumed = false;
  bool tree_differs = false;  // when compared with a seal: the tree stored there is absent or not this one
};

// Without a work folder nothing is written, and trees are compared with those of an older seal when there is one.
struct SealerOptions {
  int root_fd = -1;
  std::string shown_root;
  HashContext hashing;
  const WorkFolder* work = nullptr;
  FixWishes fixes;
  int compare_with = -1;                                                             // descriptor of a seal directory
  std::function<std::optional<hash::Digest>(const std::string& path)> sealed_before;  // what that seal says of a file
  std::function<bool(const std::string& path)> needs_git_sha1;                        // empty: no file
};

// True when the name promises weights: see formats/weight_file.h.
bool is_weight_file(std::string_view path);
// The name after the last '/', and what is before it ("" for the root).
std::string_view file_name_of(std::string_view path);
std::string_view folder_of(std::string_view path);

class FileSealer {
 public:
  explicit FileSealer(SealerOptions options) : options_(std::move(options)) {}
  // `number` is unique among the files of this run.
  Result<SealedFile> seal(const ScannedFile& file, std::size_t number) const;
  // Headers and indexes alone, without hashing: for `ls` of a model that is not sealed. entry has only the path and the size.
  Result<SealedFile> inspect(const ScannedFile& file) const;

 private:
  std::string shown(const ScannedFile& file) const { return options_.shown_root + "/" + file.opened_as(); }
  bool git_sha1(const ScannedFile& file) const { return options_.needs_git_sha1 && options_.needs_git_sha1(file.path); }
  Result<UniqueFd> open_unchanged(const ScannedFile& file) const;
  Status check_unchanged(int fd, const ScannedFile& file) const;
  Status read_structure(int fd, const ScannedFile& file, SealedFile& sealed) const;
  Result<HashedFile> hash(int fd, const ScannedFile& file, std::size_t number, SealedFile& sealed) const;
  Result<HashedFile> hash_into_work(int fd, const ScannedFile& file, std::size_t number) const;
  Result<HashedFile> hash_and_compare(int fd, const ScannedFile& file, bool& tree_differs) const;
  SealerOptions options_;
};

}  // namespace vouchfs::ingest
