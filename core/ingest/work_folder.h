// work_folder.h: work/ of a seal directory: trees of finished files and one small record each, so that an interrupted ingest goes on.
// Layer:   core/ingest (5).
// Rule:    a record counts only when the file is the very same (size, times, inode, device) and was last touched at least two
//          seconds before the record's reading began: two writes within one tick of a coarse clock look alike.
// Trust:   nothing but this ingest reads work/; a record that is torn or does not parse is as good as none, and a tree is
//          hashed up to the file's digest before it is taken over.
// Threads: every method is safe for concurrent calls for different files.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "hash/sha256.h"
#include "ingest/hash_file.h"
#include "ingest/scan.h"
#include "ingest/seal_target.h"

namespace vouchfs::ingest {

// Smaller files are read again faster than a record of them is written and read.
inline constexpr std::uint64_t kRecordBytes = 1U << 20;
inline constexpr std::int64_t kRacyNs = 2'000'000'000;

class WorkFolder {
 public:
  // Reads the records an earlier run left and removes trees that were not finished.
  static Result<WorkFolder> open(const SealTarget& target);

  // What an earlier run found for this very file, its tree checked, or nullopt; also when it lacks a Git SHA-1 that is needed now.
  std::optional<HashedFile> take_over(const ScannedFile& file, const hash::Sha256Engine& engine, bool git_sha1 = false) const;

  // Where a file's tree is written: tree_part_name(number) in this folder, then keep_tree once its digest is known.
  Result<UniqueFd> create_part(std::size_t number) const;
  std::string shown_part(std::size_t number) const { return target_->shown(part_name(number)); }
  // Syncs the part and gives it its final name, tree_name(digest).
  Status keep_tree(std::size_t number, int part_fd, const hash::Digest& fsverity) const;
  void drop_part(std::size_t number) const;
  // started_ns: when reading began.
  Status record(const ScannedFile& file, const HashedFile& hashed, std::int64_t started_ns) const;

  // Relative to the seal directory: "work/<hex>.tree".
  static std::string tree_name(const hash::Digest& fsverity);

 private:
  struct Record {
    FileIdentity identity;
    HashedFile hashed;
    std::int64_t started_ns = 0;
  };
  explicit WorkFolder(const SealTarget& target) noexcept : target_(&target) {}
  Status load();
  void load_record(const std::string& name);
  std::string part_name(std::size_t number) const;
  bool tree_fits(const ScannedFile& file, const hash::Digest& fsverity, const hash::Sha256Engine& engine) const;

  const SealTarget* target_;
  std::map<std::string, Record> records_;  // const after open
};

}  // namespace vouchfs::ingest
