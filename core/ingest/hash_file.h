// hash_file.h: one read of one file: its SHA-256 and its Merkle tree from the same buffers.
// Layer:   core/ingest (5).
// Errors:  changed (another size came), io, cancelled; whatever the tree sink fails with.
// Threads: a call uses the calling thread; for a file of kPipelineBytes and more also two that read and one for each hash of the stream.
// Cost:    every byte read once and hashed twice, reading, tree and stream at the same time; memory: kFileBufferBytes.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "base/cancel.h"
#include "base/rate_limit.h"
#include "base/result.h"
#include "hash/git_sha1.h"
#include "hash/sha256.h"
#include "ingest/pipeline.h"
#include "merkle/tree_builder.h"

namespace vouchfs::ingest {

inline constexpr std::size_t kReadBytes = PipelineShape{}.buffer_bytes;
inline constexpr std::size_t kFileBufferBytes = PipelineShape{}.buffers * kReadBytes;
inline constexpr std::uint64_t kPipelineBytes = kFileBufferBytes;  // below, starting threads costs more than they save

struct HashedFile {
  hash::Digest fsverity{};
  hash::Digest sha256{};
  std::optional<hash::GitSha1> git_sha1;  // when asked for
};

struct HashContext {
  std::shared_ptr<const hash::Sha256Engine> engine;
  std::atomic<std::uint64_t>* bytes_done;  // progress; counts every byte read
  const CancelFlag* cancel;                // the caller's wish
  const std::atomic<bool>* stop;           // another file failed: no use to go on
  RateLimit* rate = nullptr;               // shared by all files; absent: no limit
};

// Before each read: fails when the work is to end, else returns when the rate allows `bytes` more.
Status may_read(std::uint64_t bytes, const HashContext& context);

// Reads fd from its start to file_bytes. `shown` names it in errors. `sink` may be empty. git_sha1: hash a third time, as Git does.
Result<HashedFile> hash_file(int fd, std::uint64_t file_bytes, const std::string& shown, const merkle::TreeSink& sink, const HashContext& context,
                             bool git_sha1 = false);

}  // namespace vouchfs::ingest
