#include "mount_tools/warm_files.h"

#include <fcntl.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <thread>

#include "base/aligned_buffer.h"
#include "base/file.h"
#include "base/threads.h"
#include "base/units.h"

namespace vouchfs::mount_tools {
namespace {

constexpr std::size_t kPieceBytes = 1U << 20;  // the largest request the kernel sends

struct Piece {
  std::size_t file = 0;
  ByteRange range;
};

Result<UniqueFd> open_file(const WarmFile& file) { return open_at(AT_FDCWD, file.path, O_RDONLY, file.path); }

// Adds what follows the last run to it.
void add_run(std::vector<Unread>& runs, const Unread& run) {
  const bool next = !runs.empty() && runs.back().range.end == run.range.begin && runs.back().sys_errno == run.sys_errno;
  if (next)
    runs.back().range.end = run.range.end;
  else
    runs.push_back(run);
}

class Warmer {
 public:
  Warmer(const std::vector<WarmFile>& files, WarmProgress& progress, const CancelFlag& cancel)
      : unread(files.size()), files_(files), progress_(progress), cancel_(cancel) {}

  void work() {
    AlignedBuffer buffer(kPieceBytes);
    std::optional<std::size_t> open;
    Result<UniqueFd> fd = UniqueFd();
    while (const auto piece = next()) {
      if (open != piece->file) fd = open_file(files_[piece->file]);
      open = piece->file;
      if (fd)
        warm_piece(fd->get(), *piece, buffer);
      else
        note_unread(*piece, {{piece->range, fd.error().sys_errno}});
      progress_.bytes_done += piece->range.bytes();
    }
  }

  std::vector<std::vector<Unread>> unread;  // guarded by mutex_ while threads work

 private:
  // Pieces in the order of files and bytes, so that several threads are one stream to the mount.
  std::optional<Piece> next() {
    const std::lock_guard lock(mutex_);
    if (cancel_.requested()) return std::nullopt;
    for (; file_ < files_.size(); ++file_, range_ = 0) {
      for (const auto& ranges = files_[file_].ranges; range_ < ranges.size(); ++range_, done_ = 0) {
        const std::uint64_t begin = ranges[range_].begin + done_;
        const std::uint64_t end = std::min(ranges[range_].end, (begin / kPieceBytes + 1) * kPieceBytes);
        if (begin == ranges[range_].end) continue;
        done_ += end - begin;
        return Piece{file_, {begin, end}};
      }
    }
    return std::nullopt;
  }

  // Also what the page cache seems to hold: pages that somebody else's readahead has only begun may leave it again unread.
  void warm_piece(int fd, const Piece& piece, AlignedBuffer& buffer) {
    if (read(fd, piece, buffer) == 0) return;
    std::vector<Unread> bad;
    for (std::uint64_t at = piece.range.begin; at < piece.range.end && !cancel_.requested(); at += kBlockBytes) {
      const Piece block{piece.file, {at, std::min(at + kBlockBytes, piece.range.end)}};
      if (const int failed_with = read(fd, block, buffer); failed_with != 0) add_run(bad, {block.range, failed_with});
    }
    note_unread(piece, bad);
  }

  // 0 or an errno. A file that ends early has nothing more to warm.
  int read(int fd, const Piece& piece, AlignedBuffer& buffer) const {
    const auto got = read_full(fd, piece.range.begin, buffer.span().first(static_cast<std::size_t>(piece.range.bytes())), files_[piece.file].path);
    return got ? 0 : got.error().sys_errno;
  }

  void note_unread(const Piece& piece, const std::vector<Unread>& runs) {
    const std::lock_guard lock(mutex_);
    for (const Unread& run : runs) unread[piece.file].push_back(run);
  }

  const std::vector<WarmFile>& files_;
  WarmProgress& progress_;
  const CancelFlag& cancel_;
  std::mutex mutex_;
  std::size_t file_ = 0;    // guarded by mutex_, like the next two
  std::size_t range_ = 0;   // of the file
  std::uint64_t done_ = 0;  // bytes of the range
};

void join_neighbours(std::vector<Unread>& runs) {
  std::sort(runs.begin(), runs.end(), [](const Unread& a, const Unread& b) { return a.range.begin < b.range.begin; });
  std::vector<Unread> joined;
  for (const Unread& run : runs) add_run(joined, run);
  runs = std::move(joined);
}

}  // namespace

Result<std::vector<std::vector<Unread>>> warm_files(const std::vector<WarmFile>& files, unsigned jobs, WarmProgress& progress, const CancelFlag& cancel) {
  Warmer warmer(files, progress, cancel);
  const auto work = [&] { warmer.work(); };
  const unsigned wanted = jobs != 0 ? jobs : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> others = start_threads(wanted - 1, work);
  work();
  for (std::thread& other : others) other.join();
  VOUCHFS_TRY(cancel.check());
  for (auto& runs : warmer.unread) join_neighbours(runs);
  return std::move(warmer.unread);
}

Status evict_file(const WarmFile& file) {
  VOUCHFS_ASSIGN(const UniqueFd fd, open_file(file));
  for (const ByteRange& range : file.ranges) VOUCHFS_TRY(drop_pages(fd.get(), range, file.path));
  return {};
}

Result<std::uint64_t> resident_bytes(const WarmFile& file) {
  VOUCHFS_ASSIGN(const UniqueFd fd, open_file(file));
  std::uint64_t sum = 0;
  for (const ByteRange& range : file.ranges) {
    VOUCHFS_ASSIGN(const std::uint64_t there, resident_bytes(fd.get(), range, file.path));
    sum += there;
  }
  return sum;
}

}  // namespace vouchfs::mount_tools
