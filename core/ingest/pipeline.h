// pipeline.h: readers and several stages that each take all the bytes in order, all at the same time, over a ring of buffers.
// Layer:   core/ingest (5). Knows neither files nor hashes.
// Owns:    shape.buffers x shape.buffer_bytes of memory while it runs, however fast the readers are.
// Threads: run_pipeline starts shape.readers for reading and one for each stage but the first, which runs on the caller's; all are joined before it
//          returns. A mutex guards the counts of the ring; nobody holds it while reading or working. `read` is called by all readers at once, a stage by
//          one thread.
// Errors:  the first failure of a reader or of a stage; the others are stopped at their next buffer. An exception is passed on in the same way.
// Cost:    two short locks for each buffer and thread.
#pragma once

#include <functional>
#include <span>

#include "base/result.h"

namespace vouchfs::ingest {

struct PipelineShape {
  std::size_t buffers = 4;
  std::size_t buffer_bytes = 2U << 20;  // whole blocks
  std::size_t readers = 2;              // while one is woken, the other keeps the disk busy
};

// Reads at offset, a multiple of the buffer size, into dst, which is aligned to a block; returns how many bytes came: fewer only at the end.
using ReadAt = std::function<Result<std::size_t>(std::uint64_t offset, std::span<std::uint8_t> dst)>;
using Stage = std::function<Status(std::span<const std::uint8_t> bytes)>;

// Where the system refuses a thread: as run_in_turn.
Status run_pipeline(const ReadAt& read, std::span<const Stage> stages, PipelineShape shape = {});
// The same work with one buffer on the caller's thread: for what is too small for threads.
Status run_in_turn(const ReadAt& read, std::span<const Stage> stages, std::size_t buffer_bytes);

}  // namespace vouchfs::ingest
