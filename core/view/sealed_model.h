// sealed_model.h: one sealed model, opened for reading: every byte it gives was verified against the seal.
// Layer:   core/view (5). Ties seal, source, verify and observe together; knows no FUSE. This is the class to embed.
// Owns:    the opened seal and one VerifiedFile a file; borrows the EventLog and Counters of its Runtime, which must outlive it.
// Threads: safe for concurrent calls. Known-bad tables and neighbour windows have mutexes of their own; none is held during I/O or hashing.
// Errors:  corrupt, truncated or io where a reader must get EIO; each such failure is one event.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/result.h"
#include "hash/sha256.h"
#include "observe/counters.h"
#include "observe/event.h"
#include "seal/seal_directory.h"
#include "source/handle_pool.h"
#include "verify/read_ahead.h"
#include "verify/tree_cache.h"
#include "verify/verified_file.h"

namespace vouchfs::view {

// What open() does with a file that has known-bad, unrepaired blocks.
enum class KnownBadPolicy { refuse, serve };

// What all models of one process share. Members may be used concurrently.
struct Runtime {
  std::shared_ptr<const hash::Sha256Engine> engine;
  observe::EventLog events;
  observe::Counters counters;
  verify::TreeCache tree_cache;
  BufferPool buffers;
  std::shared_ptr<source::HandlePool> handles;  // bounds the descriptors held open on all sources
  verify::ReadAhead read_ahead;                 // for the readers of mounts

  // tree_cache_bytes: bound on verified tree blocks in memory. 32 MiB hold the trees of 4 GiB of data; the rest is read again when needed.
  // A mount sets it by the size of its models.
  explicit Runtime(std::shared_ptr<const hash::Sha256Engine> engine_in, std::uint64_t tree_cache_bytes = 32ULL << 20);
  // `count` consecutive keys of the tree cache that no other file has.
  std::uint64_t take_file_keys(std::uint64_t count) { return next_file_key_.fetch_add(count); }

 private:
  std::atomic<std::uint64_t> next_file_key_{0};
};

struct ModelOptions {
  std::string model_dir;
  std::optional<std::string> seal_dir;  // MODEL/.vouch when absent
  std::optional<hash::Digest> digest;   // the model digest to insist on
  std::string name;                     // of the model in events; the base name of model_dir when empty
  KnownBadPolicy policy = KnownBadPolicy::refuse;
  bool by_digest = false;     // model_dir is a folder of blobs (Ollama): a file's bytes lie in "sha256-<its SHA-256>", whatever its path
  bool mounted_over = false;  // the mount point hides model_dir: never resolve its path again
};

// On whose behalf a read or open happens, for events.
struct Caller {
  pid_t pid = 0;
  uid_t uid = 0;
};

enum class FileState { ok, bad, repaired };
const char* to_string(FileState state) noexcept;

struct KnownBadBlock {
  std::string file;
  std::uint64_t block = 0;
  std::vector<std::string> tensors;
};

class SealedModel {
 public:
  // Fails: not_found (no model, no seal), untrusted (digest or tensor table), bad_format, io.
  static Result<std::unique_ptr<SealedModel>> open(ModelOptions options, Runtime& runtime);
  ~SealedModel();

  const std::string& name() const noexcept;
  const ModelOptions& options() const noexcept;
  const seal::OpenedSeal& seal() const noexcept;
  Runtime& runtime() const noexcept;

  // Index of a file of the manifest by its path, or nullopt.
  std::optional<std::size_t> find(const std::string& path) const;
  // The verified file behind an index, for whole-model checks.
  const verify::VerifiedFile& file(std::size_t index) const;

  // Reads up to `length` bytes at `offset` of the file as it is shown (a mended one: put together from its pieces) into `buffer` (grown when it
  // is too small) and returns where in it they lie: fewer than asked only at the end of the file. Fails: corrupt, truncated, io; then no
  // byte of the range is given.
  Result<std::span<const std::uint8_t>> read(std::size_t index, std::uint64_t offset, std::size_t length, AlignedBuffer& buffer, const Caller& caller);

  // The same for a reader of a mount: where readers go through the file in order, the bytes were fetched and verified before they are asked for,
  // and are given where they lie.
  Result<verify::ByteParts> serve(std::size_t index, std::uint64_t offset, std::size_t length, AlignedBuffer& buffer, const Caller& caller);

  // What open() must answer: under the default policy a file with known-bad blocks fails with corrupt, after these blocks
  // were read once more (a file put right on disk opens at once).
  Status check_open(std::size_t index, const Caller& caller);

  FileState state(std::size_t index) const;
  // Known-bad blocks of one file, without the list.
  std::uint64_t known_bad_count(std::size_t index) const;
  // Every known-bad block, at most `limit`, in order of file and block.
  std::vector<KnownBadBlock> known_bad(std::size_t limit) const;

 private:
  struct Impl;
  explicit SealedModel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace vouchfs::view
