#include "ingest/hash_file.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/units.h"
#include "ingest/file_reader.h"

namespace vouchfs::ingest {
namespace {

Status check_going(const HashContext& context) {
  VOUCHFS_TRY(context.cancel->check());
  if (context.stop->load(std::memory_order_relaxed)) return fail(ErrorCode::cancelled, "stopped because another file failed");
  return {};
}

using Bytes = std::span<const std::uint8_t>;

// Reads as far as the file was announced, when the context allows it.
Result<std::size_t> read_announced(const FileReader& file, std::uint64_t file_bytes, std::uint64_t offset, std::span<std::uint8_t> dst,
                                   const HashContext& context) {
  if (offset >= file_bytes) return std::size_t{0};
  const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(dst.size(), file_bytes - offset));
  VOUCHFS_TRY(may_read(want, context));
  VOUCHFS_ASSIGN(std::size_t got, file.read(offset, dst.first(blocks_for(want) * kBlockBytes)));
  got = std::min(got, want);  // what the file has grown by is not asked for
  context.bytes_done->fetch_add(got, std::memory_order_relaxed);
  return got;
}

std::size_t small_buffer(std::uint64_t file_bytes) { return static_cast<std::size_t>(std::clamp<std::uint64_t>(file_bytes, 1, kReadBytes)); }

}  // namespace

Status may_read(std::uint64_t bytes, const HashContext& context) {
  VOUCHFS_TRY(check_going(context));
  if (context.rate == nullptr) return {};
  return context.rate->take(bytes, [&context] { return check_going(context); });
}

Result<HashedFile> hash_file(int fd, std::uint64_t file_bytes, const std::string& shown, const merkle::TreeSink& sink, const HashContext& context,
                             bool git_sha1) {
  const FileReader file(fd, file_bytes, shown);
  merkle::TreeBuilder tree(file_bytes, context.engine, sink);
  hash::Sha256Stream stream;
  std::optional<hash::GitSha1Stream> git;
  std::vector<Stage> stages{[&](Bytes bytes) { return tree.append(bytes); }, [&](Bytes bytes) { return stream.update(bytes), Status{}; }};
  if (git_sha1) {
    git.emplace(file_bytes);
    stages.emplace_back([&](Bytes bytes) { return git->update(bytes), Status{}; });
  }
  const ReadAt read = [&](std::uint64_t offset, std::span<std::uint8_t> dst) { return read_announced(file, file_bytes, offset, dst, context); };
  const bool small = file_bytes < kPipelineBytes;
  VOUCHFS_TRY(small ? run_in_turn(read, stages, small_buffer(file_bytes)) : run_pipeline(read, stages));
  auto built = tree.finish();  // tells when bytes are missing
  if (!built && built.error().where.file.empty()) built.error().where.file = shown;
  if (!built) return fail(std::move(built).error());
  return HashedFile{built->digest, stream.finish(), git ? std::optional(git->finish()) : std::nullopt};
}

}  // namespace vouchfs::ingest
