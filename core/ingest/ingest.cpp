#include "ingest/ingest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "ingest/file_jobs.h"
#include "ingest/publish.h"
#include "ingest/seal_check.h"
#include "ingest/seal_target.h"
#include "ingest/table_builder.h"
#include "ingest/work_folder.h"
#include "merkle/digest_file.h"
#include "merkle/geometry.h"
#include "seal/seal_directory.h"

namespace vouchfs::ingest {
namespace {

using EnginePtr = std::shared_ptr<const hash::Sha256Engine>;

constexpr const char* kRootIndex = "index.json";          // every view has one of its own (DESIGN section 5)
constexpr std::uint64_t kRoomForTables = 64ULL << 10;    // manifest and tensor table, at least; trees are counted exactly
constexpr std::uint64_t kRoomPerFile = 1024;

std::optional<FolderId> folder_id(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return FolderId{info.st_dev, info.st_ino};
}

Result<UniqueFd> open_model(const std::string& path) {
  auto fd = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, path);
  if (!fd && fd.error().sys_errno == ENOTDIR) return fail(ErrorCode::not_found, "is no directory; a model is a directory", path, "give the directory that holds the file");
  return fd;
}

std::uint64_t room_needed(const ScanResult& scan) {
  std::uint64_t bytes = kRoomForTables + kRoomPerFile * scan.files.size();
  for (const ScannedFile& file : scan.files) bytes += merkle::Geometry(file.identity.bytes).tree_bytes();
  return bytes;
}

struct Texts {
  seal::Manifest manifest;
  std::string manifest_text;
  std::string table_text;
  std::string provenance_text;
};

// One ingest, from the scan to the report.
class Ingest {
 public:
  Ingest(const IngestOptions& options, EnginePtr engine, IngestProgress& progress, const CancelFlag& cancel)
      : options_(options), engine_(std::move(engine)), progress_(progress), cancel_(cancel), place_(options.place ? *options.place : publisher::folder_place(options.model_dir)),
        seal_path_(options.seal_dir.value_or(place_.default_seal_dir)) {}

  Result<IngestReport> run();

 private:
  Status scan();
  Result<ScanResult> scan_place() const;
  Result<IngestReport> check();
  Result<IngestReport> write();
  Status write_into(const SealTarget& target);
  SealerOptions sealer_options();
  Status seal_files(SealerOptions options);
  Status compose();
  Status check_scan_again() const;
  void judge_publisher();
  Status make_seal_parents() const;
  void remove_seal_parents() const;
  void fill_report();

  const IngestOptions& options_;
  const EnginePtr engine_;
  IngestProgress& progress_;
  const CancelFlag& cancel_;
  const publisher::Place place_;
  const std::string seal_path_;
  UniqueFd root_;
  ScanResult scan_;
  std::optional<PublisherCheck> publisher_;  // after the scan
  std::atomic<bool> stop_{false};
  RateLimit rate_{options_.bytes_per_second};
  std::vector<SealedFile> files_;
  seal::TensorTable table_;
  Texts texts_;
  IngestReport report_;
};

Result<ScanResult> Ingest::scan_place() const {
  if (place_.kind == publisher::PlaceKind::ollama) return scan_named(root_.get(), options_.model_dir, place_.files, cancel_);
  return scan_model(root_.get(), options_.model_dir, folder_id(seal_path_), cancel_);
}

Status Ingest::scan() {
  VOUCHFS_ASSIGN(root_, open_model(options_.model_dir));
  VOUCHFS_ASSIGN(scan_, scan_place());
  publisher_.emplace(options_.check_publisher, place_, scan_.files);
  VOUCHFS_TRY(check_orig_free(scan_, kRootIndex, options_.model_dir));
  std::uint64_t bytes = 0;
  for (const ScannedFile& file : scan_.files) bytes += file.identity.bytes;
  progress_.files_total = scan_.files.size();
  progress_.bytes_total = bytes;
  return {};
}

SealerOptions Ingest::sealer_options() {
  SealerOptions options;
  options.root_fd = root_.get();
  options.shown_root = options_.model_dir;
  options.hashing = {engine_, &progress_.bytes_done, &cancel_, &stop_, &rate_};
  options.fixes = options_.fixes;
  options.needs_git_sha1 = [this](const std::string& path) { return publisher_->needs_git_sha1(path); };
  return options;
}

Status Ingest::seal_files(SealerOptions options) {
  const FileSealer sealer(std::move(options));
  const SealOne one = [&](const ScannedFile& file, std::size_t number) { return sealer.seal(file, number); };
  VOUCHFS_ASSIGN(files_, seal_all(scan_.files, options_.jobs, one, stop_, progress_.files_done));
  return compose();
}

Status Ingest::compose() {
  table_ = build_table(files_);
  if (options_.strict) VOUCHFS_TRY(check_strict(table_, options_.model_dir));
  for (const formats::IndexRecord& record : table_.indexes) {
    const std::string path = record.folder.empty() ? record.file_name : record.folder + "/" + record.file_name;
    if (record.verdict == formats::IndexVerdict::wrong && record.made()) VOUCHFS_TRY(check_orig_free(scan_, path, options_.model_dir));
  }
  texts_.table_text = seal::write_tensor_table(table_);
  texts_.manifest.tensors_bytes = texts_.table_text.size();
  const auto bytes_of = [](const std::string& text) { return std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()); };
  texts_.manifest.tensors_fsverity = merkle::digest_bytes(bytes_of(texts_.table_text), *engine_);
  for (const SealedFile& file : files_) texts_.manifest.files.push_back(file.entry);
  texts_.manifest_text = seal::write_manifest(texts_.manifest);
  if (texts_.table_text.size() > seal::kMaxTableBytes || texts_.manifest_text.size() > seal::kMaxManifestBytes)
    return fail(ErrorCode::bad_format, "has more files or tensors than a seal can hold", options_.model_dir, "ingest its folders one by one");
  report_.model_digest = merkle::digest_bytes(bytes_of(texts_.manifest_text), *engine_);
  judge_publisher();
  fill_report();
  return {};
}

void Ingest::judge_publisher() {
  publisher_->judge(files_, table_, [this](const std::string& path, std::size_t limit) -> std::optional<std::string> {
    const auto file = std::lower_bound(scan_.files.begin(), scan_.files.end(), path, [](const ScannedFile& f, const std::string& p) { return f.path < p; });
    auto text = read_whole_file(root_.get(), file->opened_as(), limit, path);
    return text ? std::optional(*std::move(text)) : std::nullopt;
  });
  texts_.provenance_text = seal::write_provenance(publisher_->provenance(report_.model_digest));
  report_.publisher = publisher_->summary();
}

void Ingest::fill_report() {
  report_.files = files_.size();
  for (const SealedFile& file : files_) {
    report_.bytes += file.entry.bytes;
    report_.resumed_files += file.resumed ? 1 : 0;
  }
  for (const seal::TableFile& file : table_.files) report_.tensors += file.tensors.size();
  report_.left_out = scan_.left_out;
  report_.fixes = table_.fixes;
  report_.warnings = table_warnings(table_);
  for (const SealedFile& file : files_)
    if (!file.fix_trouble.empty()) report_.warnings.push_back(file.entry.path + ": " + file.fix_trouble);
  const std::vector<std::string> told = publisher_->warnings();
  report_.warnings.insert(report_.warnings.end(), told.begin(), told.end());
}

// Every path once more, after everything was read: also what came, went or was exchanged meanwhile.
Status Ingest::check_scan_again() const {
  VOUCHFS_ASSIGN(const ScanResult again, scan_place());
  return same_files(scan_, again, options_.model_dir);
}

Result<IngestReport> Ingest::check() {
  VOUCHFS_ASSIGN(const seal::OpenedSeal sealed, seal::open_seal(seal_path_, std::nullopt, *engine_));
  const std::vector<seal::ManifestFile>& before = sealed.manifest.files;
  SealerOptions options = sealer_options();
  options.compare_with = sealed.directory.get();
  const FixWishes before_wished = wishes_of(sealed.table.fixes);
  options.fixes = {options.fixes.bom || before_wished.bom, options.fixes.format || before_wished.format};
  options.sealed_before = [&before](const std::string& path) -> std::optional<hash::Digest> {
    const auto at = std::lower_bound(before.begin(), before.end(), path, [](const seal::ManifestFile& file, const std::string& p) { return file.path < p; });
    return at != before.end() && at->path == path ? std::optional(at->fsverity) : std::nullopt;
  };
  VOUCHFS_TRY(seal_files(std::move(options)));
  VOUCHFS_TRY(check_scan_again());
  report_.differences = seal_differences(sealed, files_, texts_.manifest, texts_.table_text);
  // A file that is neither what was sealed nor what was published is a difference first: the seal tells where it differs.
  if (report_.differences.empty()) VOUCHFS_TRY(publisher_->verdict(options_.model_dir));
  return std::move(report_);
}

Status Ingest::write_into(const SealTarget& target) {
  VOUCHFS_ASSIGN(const WorkFolder work, WorkFolder::open(target));
  SealerOptions options = sealer_options();
  options.work = &work;
  VOUCHFS_TRY(seal_files(std::move(options)));
  VOUCHFS_TRY(check_scan_again());
  VOUCHFS_TRY(publisher_->verdict(options_.model_dir));
  VOUCHFS_TRY(cancel_.check());  // the last moment: from here on it is a matter of milliseconds
  VOUCHFS_ASSIGN(const std::vector<std::string> untidy, publish(target, {texts_.manifest, texts_.manifest_text, texts_.table_text, texts_.provenance_text}));
  report_.warnings.insert(report_.warnings.end(), untidy.begin(), untidy.end());
  return {};
}

// The folders above the seal of an Ollama model are ours: <store>/.vouch/<host>/<namespace>/<model>.
Status Ingest::make_seal_parents() const {
  if (place_.kind != publisher::PlaceKind::ollama || options_.seal_dir) return {};
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(seal_path_).parent_path(), failed);
  if (failed) return fail(with_write_advice(errno_error(failed.value(), "cannot make the folders of the seal", seal_path_)));
  return {};
}

// Takes away those that hold nothing.
void Ingest::remove_seal_parents() const {
  if (place_.kind != publisher::PlaceKind::ollama || options_.seal_dir) return;
  std::filesystem::path folder = std::filesystem::path(seal_path_).parent_path();
  while (folder.string().size() > place_.store_dir.size() && ::rmdir(folder.c_str()) == 0) folder = folder.parent_path();
}

Result<IngestReport> Ingest::write() {
  VOUCHFS_TRY(make_seal_parents());
  VOUCHFS_ASSIGN(const SealTarget target, SealTarget::open(seal_path_, room_needed(scan_)));
  Status written = write_into(target);
  if (written) return std::move(report_);
  target.abandon(is_no_room(written.error()));
  remove_seal_parents();
  const bool about_seal = written.error().where.file.compare(0, seal_path_.size(), seal_path_) == 0;
  return fail(about_seal ? with_write_advice(std::move(written).error()) : std::move(written).error());
}

Result<IngestReport> Ingest::run() {
  VOUCHFS_TRY(scan());
  return options_.check_only ? check() : write();
}

}  // namespace

Result<IngestReport> ingest(const IngestOptions& options, EnginePtr engine, IngestProgress& progress, const CancelFlag& cancel) {
  return Ingest(options, std::move(engine), progress, cancel).run();
}

Result<seal::TensorTable> inspect(const std::string& model_dir, const CancelFlag& cancel) {
  return inspect(publisher::folder_place(model_dir), cancel);
}

Result<seal::TensorTable> inspect(const publisher::Place& place, const CancelFlag& cancel) {
  VOUCHFS_ASSIGN(const UniqueFd root, open_model(place.model_dir));
  const bool named = place.kind == publisher::PlaceKind::ollama;
  VOUCHFS_ASSIGN(const ScanResult scan, named ? scan_named(root.get(), place.model_dir, place.files, cancel) : scan_model(root.get(), place.model_dir, std::nullopt, cancel));
  SealerOptions options;
  options.root_fd = root.get();
  options.shown_root = place.model_dir;
  const FileSealer sealer(std::move(options));
  std::vector<SealedFile> files;
  for (const ScannedFile& file : scan.files) {
    VOUCHFS_TRY(cancel.check());
    VOUCHFS_ASSIGN(SealedFile inspected, sealer.inspect(file));
    files.push_back(std::move(inspected));
  }
  return build_table(files);
}

}  // namespace vouchfs::ingest
