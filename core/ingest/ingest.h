// ingest.h: reads a model once and publishes its seal.
// Layer:   core/ingest (5). Uses publisher, seal, formats, merkle, hash.
// Errors:  not_found (no model), bad_format (dangling link, loop, special file, non-UTF-8 name, colliding names, --strict and a broken
//          header), untrusted (a file that is not the publisher's), incomplete (a layer of an Ollama model is absent), changed (a file changed while it was read), io (unreadable file), busy (another ingest), cancelled. Nothing is published then.
// Threads: one call a seal directory at a time (flock); uses `jobs` threads of its own, and for each large file up to four more (hash_file.h).
// Cost:    one read of every byte; memory: jobs x kFileBufferBytes (8 MiB), plus the tensor table.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "hash/sha256.h"
#include "ingest/fixes.h"
#include "ingest/publisher_check.h"
#include "seal/tensor_table.h"

namespace vouchfs::ingest {

struct IngestOptions {
  std::string model_dir;
  std::optional<publisher::Place> place;  // what model_dir stands for (its model_dir is this one); absent: a plain folder
  std::optional<std::string> seal_dir;    // the place's own (MODEL/.vouch) when absent; created, but not its parent
  PublisherMode check_publisher = PublisherMode::automatic;
  unsigned jobs = 0;                    // files at once; 0: one a core
  std::uint64_t bytes_per_second = 0;   // read by all threads together at most; 0: no limit
  bool check_only = false;              // write nothing; say whether the seal on disk still fits
  FixWishes fixes;                      // check_only adds those that the seal was made with
  bool strict = false;                  // a broken header or wrong index refuses the whole ingest
};

// What the caller may watch while it runs.
struct IngestProgress {
  std::atomic<std::uint64_t> bytes_total{0};
  std::atomic<std::uint64_t> bytes_done{0};
  std::atomic<std::uint64_t> files_total{0};
  std::atomic<std::uint64_t> files_done{0};
};

// One difference that check_only found.
struct SealDifference {
  std::string path;
  std::string what;  // "changed", "missing", "not sealed", "tensor table differs" …
};

struct IngestReport {
  hash::Digest model_digest{};         // of the seal published, or that would be published
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t tensors = 0;
  std::uint64_t resumed_files = 0;     // taken over from an interrupted run
  std::vector<std::string> left_out;   // ".git", "sub/.cache": folders not sealed
  std::vector<std::string> warnings;   // broken headers, wrong indexes, missing shards: one sentence each, naming the file
  std::vector<seal::FileFix> fixes;    // files that a view shows mended
  PublisherSummary publisher;
  std::vector<SealDifference> differences;  // check_only: empty when the seal fits
};

Result<IngestReport> ingest(const IngestOptions& options, std::shared_ptr<const hash::Sha256Engine> engine, IngestProgress& progress, const CancelFlag& cancel);

// The tensor table of a model as it lies there, without hashing and without a seal: what `ls` shows.
Result<seal::TensorTable> inspect(const std::string& model_dir, const CancelFlag& cancel);
// The same for any place, with the names of its files.
Result<seal::TensorTable> inspect(const publisher::Place& place, const CancelFlag& cancel);

}  // namespace vouchfs::ingest
