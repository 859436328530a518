#include "view/model_check.h"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <mutex>
#include <thread>

#include "base/aligned_buffer.h"
#include "base/threads.h"
#include "seal/tensor_table.h"

namespace vouchfs::view {
namespace {

constexpr std::uint64_t kPieceBlocks = 512;  // 2 MiB: long enough for the disk, short enough to share one large file

// Blocks of one file that one thread reads at once.
struct Piece {
  std::size_t file = 0;
  std::uint64_t first = 0;
  std::uint64_t blocks = 0;
};

class Checker {
 public:
  Checker(const SealedModel& model, CheckProgress& progress, const CancelFlag& cancel, RateLimit* rate)
      : model_(model), progress_(progress), cancel_(cancel), rate_(rate) {}

  void plan();
  void run(unsigned jobs);
  ModelCheck take();

 private:
  void plan_file(std::size_t index);
  void work();
  void check_piece(const Piece& piece, AlignedBuffer& buffer);
  void add_run(std::size_t file, std::uint64_t first, std::uint64_t blocks, verify::BadKind kind, bool lost, std::string detail);
  void merge_runs();
  void name_tensors();
  const seal::ManifestFile& sealed(std::size_t index) const { return model_.seal().manifest.files[index]; }

  const SealedModel& model_;
  CheckProgress& progress_;
  const CancelFlag& cancel_;
  RateLimit* const rate_;
  std::vector<Piece> pieces_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  ModelCheck check_;  // guarded by mutex_ while threads run
};

std::uint64_t clipped_end(std::uint64_t file_bytes, std::uint64_t block_end) { return std::min(file_bytes, block_end * kBlockBytes); }

void Checker::plan() {
  const auto& files = model_.seal().manifest.files;
  check_.files = files.size();
  for (std::size_t i = 0; i < files.size(); ++i) {
    check_.bytes += files[i].bytes;
    check_.blocks += blocks_for(files[i].bytes);
    plan_file(i);
  }
  progress_.bytes_total = check_.bytes;
}

// What is not there is told by one look at the source; only what is there is cut in pieces.
void Checker::plan_file(std::size_t index) {
  const std::uint64_t bytes = sealed(index).bytes;
  const std::uint64_t blocks = blocks_for(bytes);
  std::uint64_t there = blocks;
  const auto stamp = model_.file(index).source().stamp();
  if (!stamp) {
    there = 0;
    const bool lost = stamp.error().code == ErrorCode::not_found;
    add_run(index, 0, blocks, verify::BadKind::source_error, lost, lost ? "the file is not there" : stamp.error().describe());
  } else if (stamp->bytes < bytes) {
    there = stamp->bytes / kBlockBytes;
    add_run(index, there, blocks - there, verify::BadKind::truncated, false,
            "the file ends at byte " + std::to_string(stamp->bytes) + " of " + std::to_string(bytes));
  }
  progress_.bytes_done += bytes - clipped_end(bytes, there);
  for (std::uint64_t first = 0; first < there; first += kPieceBlocks) pieces_.push_back({index, first, std::min(kPieceBlocks, there - first)});
}

void Checker::add_run(std::size_t file, std::uint64_t first, std::uint64_t blocks, verify::BadKind kind, bool lost, std::string detail) {
  BadRun run;
  run.file = sealed(file).path;
  run.block = first;
  run.blocks = blocks;
  run.kind = kind;
  run.lost = lost;
  run.detail = std::move(detail);
  check_.runs.push_back(std::move(run));
}

void Checker::run(unsigned jobs) {
  const unsigned wanted = jobs != 0 ? jobs : std::max(1U, std::thread::hardware_concurrency());
  const auto count = static_cast<unsigned>(std::min<std::size_t>(wanted, std::max<std::size_t>(1, pieces_.size())));
  const std::function<void()> worker = [this] { work(); };
  std::vector<std::thread> threads = start_threads(count - 1, worker);
  work();
  for (std::thread& thread : threads) thread.join();
}

void Checker::work() {
  AlignedBuffer buffer(kPieceBlocks * kBlockBytes);
  for (std::size_t turn = next_++; turn < pieces_.size() && !cancel_.requested(); turn = next_++) check_piece(pieces_[turn], buffer);
}

void Checker::check_piece(const Piece& piece, AlignedBuffer& buffer) {
  if (rate_ != nullptr && !rate_->take(piece.blocks * kBlockBytes, [this] { return cancel_.check(); })) return;  // check_model() tells it
  const auto outcome = model_.file(piece.file).read_blocks(piece.first, buffer.span().first(static_cast<std::size_t>(piece.blocks) * kBlockBytes));
  const std::uint64_t bytes = sealed(piece.file).bytes;
  progress_.bytes_done += clipped_end(bytes, piece.first + piece.blocks) - piece.first * kBlockBytes;
  if (outcome.all_good() && outcome.transient.empty()) return;
  const std::lock_guard lock(mutex_);
  check_.transient += outcome.transient.size();
  for (const verify::BadBlock& bad : outcome.bad) {
    const bool lost = bad.kind == verify::BadKind::source_error && (bad.sys_errno == ENOENT || bad.sys_errno == ENOTDIR);
    add_run(piece.file, bad.block, 1, bad.kind, lost, bad.detail);
  }
}

void Checker::merge_runs() {
  std::vector<BadRun>& runs = check_.runs;
  std::sort(runs.begin(), runs.end(), [](const BadRun& a, const BadRun& b) { return a.file != b.file ? a.file < b.file : a.block < b.block; });
  std::vector<BadRun> merged;
  for (BadRun& run : runs) {
    const bool joins = !merged.empty() && merged.back().file == run.file && merged.back().kind == run.kind && merged.back().lost == run.lost &&
                       merged.back().block + merged.back().blocks == run.block;
    if (joins)
      merged.back().blocks += run.blocks;
    else
      merged.push_back(std::move(run));
  }
  runs = std::move(merged);
}

void Checker::name_tensors() {
  const auto& tables = model_.seal().table.files;
  for (BadRun& run : check_.runs) {
    const auto index = model_.find(run.file);
    const std::uint64_t bytes = index ? sealed(*index).bytes : 0;
    run.offset = run.block * kBlockBytes;
    run.length = clipped_end(bytes, run.block + run.blocks) - std::min(bytes, run.offset);
    check_.corrupt_blocks += run.blocks;
    const auto table =
        std::lower_bound(tables.begin(), tables.end(), run.file, [](const seal::TableFile& file, const std::string& path) { return file.path < path; });
    if (table != tables.end() && table->path == run.file) run.tensors = seal::tensors_in(*table, run.offset, run.length);
  }
}

ModelCheck Checker::take() {
  merge_runs();
  name_tensors();
  return std::move(check_);
}

}  // namespace

const char* to_string(verify::BadKind kind) noexcept {
  switch (kind) {
    case verify::BadKind::corrupt:
      return "corrupt";
    case verify::BadKind::truncated:
      return "truncated";
    case verify::BadKind::source_error:
      return "unreadable";
    case verify::BadKind::tree:
      return "tree";
  }
  return "corrupt";
}

Result<ModelCheck> check_model(const SealedModel& model, unsigned jobs, CheckProgress& progress, const CancelFlag& cancel, RateLimit* rate) {
  Checker checker(model, progress, cancel, rate);
  checker.plan();
  checker.run(jobs);
  VOUCHFS_TRY(cancel.check());
  return checker.take();
}

}  // namespace vouchfs::view
