// What huggingface_hub leaves: the names of blobs, the listing of a commit, and the notes beside files of --local-dir.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "formats/hex_text.h"
#include "formats/store_files.h"
#include "publisher/evidence_sources.h"
#include "publisher/hf_cache.h"

namespace vouchfs::publisher {
namespace {

namespace stdfs = std::filesystem;

constexpr const char* kLocalTrees = ".cache/huggingface/trees";
constexpr const char* kLocalNotes = ".cache/huggingface/download/";
constexpr std::string_view kTreeEnding = ".json";
constexpr std::uint64_t kMaxNoteBytes = 1 << 16;
constexpr double kStampSlack = 1.0;  // seconds; huggingface_hub's own

// A digest by its length: 64 digits are SHA-256, 40 are Git's SHA-1.
std::optional<Evidence> evidence_of(EvidenceKind kind, const std::string& text, std::string from) {
  if (auto hex = formats::lower_hex(text, formats::kSha256Digits)) return Evidence{kind, DigestKind::sha256, *std::move(hex), std::nullopt, std::move(from)};
  if (auto hex = formats::lower_hex(text, formats::kSha1Digits)) return Evidence{kind, DigestKind::git_sha1, *std::move(hex), std::nullopt, std::move(from)};
  return std::nullopt;
}

Evidence evidence_of(const formats::HfTreeFile& file, const std::string& from) {
  if (!file.sha256.empty()) return {EvidenceKind::hf_tree, DigestKind::sha256, file.sha256, file.lfs_bytes.value_or(file.bytes), from};
  return {EvidenceKind::hf_tree, DigestKind::git_sha1, file.git_sha1, file.bytes, from};
}

// False when the folder is absent; one that is there and cannot be looked into is no evidence, and not silence either.
bool can_enter(Collector& collector, const std::string& folder) {
  std::error_code failed;
  const stdfs::directory_iterator opened(collector.on_disk(folder), failed);
  if (failed && failed != std::errc::no_such_file_or_directory && failed != std::errc::not_a_directory)
    collector.note(cannot_use(folder, errno_error(failed.value(), "cannot list", folder)));
  return !failed;
}

// Commits whose listings lie in a folder, sorted.
std::vector<std::string> listed_commits(const std::string& folder) {
  std::vector<std::string> commits;
  std::error_code failed;
  for (stdfs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
    if (at->path().extension() == kTreeEnding) commits.push_back(at->path().stem().string());
  std::sort(commits.begin(), commits.end());
  return commits;
}

std::optional<formats::HfDownloadNote> read_note(Collector& collector, const std::string& path) {
  const std::string name = kLocalNotes + path + ".metadata";
  const auto text = read_whole_file(AT_FDCWD, collector.on_disk(name), kMaxNoteBytes, name);
  if (!text && text.error().code == ErrorCode::not_found) return std::nullopt;
  const auto note = text ? formats::parse_hf_download_note(*text) : Result<formats::HfDownloadNote>(fail(text.error()));
  if (!note) collector.note(cannot_use(name, note.error()));
  return note ? std::optional(*note) : std::nullopt;
}

// The note speaks of the file as it was downloaded: a later change makes it void.
bool is_valid(const formats::HfDownloadNote& note, const std::string& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return false;
  const double mtime = static_cast<double>(info.st_mtim.tv_sec) + static_cast<double>(info.st_mtim.tv_nsec) / 1e9;
  return mtime - kStampSlack <= note.stamp;
}

// Files of one listing; of several listings beside each other only those of files whose note names the commit.
void collect_tree(Collector& collector, const std::string& folder, const std::string& shown, const std::string& commit, const std::set<std::string>* only) {
  const std::string name = shown + "/" + commit + std::string(kTreeEnding);
  const auto text = read_whole_file(AT_FDCWD, folder + "/" + commit + std::string(kTreeEnding), formats::kMaxStoreFileBytes, name);
  if (!text && text.error().code == ErrorCode::not_found) return;
  const auto files = text ? formats::parse_hf_tree(*text) : Result<std::map<std::string, formats::HfTreeFile>>(fail(text.error()));
  if (!files) return collector.note(cannot_use(name, files.error()));
  for (const auto& [path, file] : *files) {
    const bool wanted = only == nullptr || only->count(path) != 0;
    if (wanted && !(file.sha256.empty() && file.git_sha1.empty())) collector.add(path, evidence_of(file, name), only == nullptr);
  }
}

std::map<std::string, std::set<std::string>> files_by_commit(Collector& collector) {
  std::map<std::string, std::set<std::string>> files;
  for (const std::string& path : collector.paths()) {
    const auto note = read_note(collector, path);
    if (note && is_valid(*note, collector.on_disk(path))) files[note->commit].insert(path);
  }
  return files;
}

}  // namespace

void collect_hf_blobs(Collector& collector) {
  for (const std::string& path : collector.paths()) {
    std::error_code failed;
    if (!stdfs::is_symlink(collector.on_disk(path), failed)) continue;  // a copy has no name but its own
    const stdfs::path blob = stdfs::canonical(collector.on_disk(path), failed);
    const stdfs::path folder = blob.parent_path();
    if (failed || folder.filename() != "blobs" || !is_hf_model_folder(folder.parent_path().string())) continue;
    const std::string name = blob.filename().string();
    if (auto evidence = evidence_of(EvidenceKind::hf_blob, name, "blobs/" + name)) collector.add(path, *std::move(evidence), false);
  }
}

void collect_hf_trees(Collector& collector) {
  const Place& place = collector.place();
  if (place.kind == PlaceKind::hf_snapshot) return collect_tree(collector, place.cache_dir + "/trees", "trees", place.revision, nullptr);
  const std::string folder = collector.on_disk(kLocalTrees);
  if (!can_enter(collector, kLocalTrees)) return;
  const std::vector<std::string> commits = listed_commits(folder);
  if (commits.empty()) return;
  if (commits.size() == 1) return collect_tree(collector, folder, kLocalTrees, commits.front(), nullptr);
  for (const auto& [commit, files] : files_by_commit(collector)) collect_tree(collector, folder, kLocalTrees, commit, &files);
}

void collect_hf_notes(Collector& collector) {
  if (!can_enter(collector, kLocalNotes)) return;
  for (const std::string& path : collector.paths()) {
    const auto note = read_note(collector, path);
    if (!note || !is_valid(*note, collector.on_disk(path))) continue;
    if (auto evidence = evidence_of(EvidenceKind::hf_local_dir, note->etag, kLocalNotes + path + ".metadata")) collector.add(path, *std::move(evidence), false);
  }
}

}  // namespace vouchfs::publisher
