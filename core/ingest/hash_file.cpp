#include "ingest/hash_file.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/aligned_buffer.h"
#include "base/file.h"
#include "ingest/background_sha256.h"

namespace vouchfs::ingest {
namespace {

constexpr std::uint64_t kThreadWorthwhile = 2 * kReadBytes;  // below, starting a thread costs more than it saves

// The SHA-256 of the stream: on a thread of its own for a large file.
class StreamHash {
 public:
  explicit StreamHash(bool large) {
    if (large) background_.emplace();
    else stream_.emplace();
  }
  void wait() {
    if (background_) background_->wait();
  }
  void take(std::span<const std::uint8_t> bytes) {
    if (background_ && !bytes.empty()) background_->submit(bytes);
    else if (stream_) stream_->update(bytes);
  }
  hash::Digest finish() { return background_ ? background_->finish() : stream_->finish(); }

 private:
  std::optional<BackgroundSha256> background_;
  std::optional<hash::Sha256Stream> stream_;
};

Status check_going(const HashContext& context) {
  VOUCHFS_TRY(context.cancel->check());
  if (context.stop->load(std::memory_order_relaxed)) return fail(ErrorCode::cancelled, "stopped because another file failed");
  return {};
}

}  // namespace

Status may_read(std::uint64_t bytes, const HashContext& context) {
  VOUCHFS_TRY(check_going(context));
  if (context.rate == nullptr) return {};
  return context.rate->take(bytes, [&context] { return check_going(context); });
}

Result<HashedFile> hash_file(int fd, std::uint64_t file_bytes, const std::string& shown, const merkle::TreeSink& sink, const HashContext& context,
                             bool git_sha1) {
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  const auto buffer_bytes = static_cast<std::size_t>(std::clamp<std::uint64_t>(file_bytes, 1, kReadBytes));
  // Declared before the hash that borrows them: on an early return its thread must end first.
  std::array<AlignedBuffer, 2> buffers;
  buffers[0] = AlignedBuffer(buffer_bytes);
  if (file_bytes > buffer_bytes) buffers[1] = AlignedBuffer(buffer_bytes);
  merkle::TreeBuilder tree(file_bytes, context.engine, sink);
  StreamHash stream(file_bytes >= kThreadWorthwhile);
  std::optional<hash::GitSha1Stream> git;
  if (git_sha1) git.emplace(file_bytes);
  std::size_t turn = 0;
  for (std::uint64_t at = 0; at < file_bytes; turn ^= 1) {
    const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_bytes, file_bytes - at));
    VOUCHFS_TRY(may_read(want, context));
    VOUCHFS_ASSIGN(const std::size_t got, read_full(fd, at, buffers[turn].span().first(want), shown));
    if (got == 0) break;  // the tree's finish() tells that bytes are missing
    const std::span<const std::uint8_t> bytes(buffers[turn].data(), got);
    stream.wait();
    stream.take(bytes);
    if (git) git->update(bytes);
    VOUCHFS_TRY(tree.append(bytes));
    at += got;
    context.bytes_done->fetch_add(got, std::memory_order_relaxed);
  }
  auto built = tree.finish();
  if (!built && built.error().where.file.empty()) built.error().where.file = shown;
  if (!built) return fail(std::move(built).error());
  return HashedFile{built->digest, stream.finish(), git ? std::optional(git->finish()) : std::nullopt};
}

}  // namespace vouchfs::ingest
