// read_ahead.h: verified bytes fetched before they are asked for, so that the source, the hashing and the reader work at once.
// Layer:   core/verify (3). Uses base. Knows no FUSE.
// What it holds are chunks of at most 1 MiB, each fetched and verified whole by threads of its own, or by the reader that needs
// it first. A chunk with a wrong block is thrown away without a word: the read that wants it finds the fault and reports it.
// Owns:    the chunks and the threads, which start with the first stream. Files given to it must be forgotten before they die.
// Threads: safe for concurrent calls. mutex_ guards the table and the queue, each file's mutex its streams; none is held during I/O
//          or hashing. A reader waits only for the chunk that holds its bytes.
// Memory:  at most Limits::chunks MiB.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/units.h"
#include "verify/stream_table.h"

namespace vouchfs::verify {

// Bytes where they lie, in order, and what keeps them there. A request of at most 1 MiB has at most two parts.
struct ByteParts {
  static constexpr std::size_t kMost = 2;
  std::array<std::span<const std::uint8_t>, kMost> parts{};
  std::array<std::shared_ptr<const void>, kMost> held{};
  std::size_t count = 0;

  void add(std::span<const std::uint8_t> part, std::shared_ptr<const void> holder) {
    parts.at(count) = part;
    held.at(count++) = std::move(holder);
  }
};

class ReadAhead {
 public:
  static constexpr std::uint64_t kChunkBytes = 1ULL << 20;

  struct Limits {
    std::size_t chunks = 32;
    unsigned threads = 0;  // 0: chosen by the number of cores
  };
  // Fills dst with verified blocks from block `first` on; false when one is wrong. Called on any thread, several at once.
  using Fetch = std::function<bool(std::uint64_t first, std::span<std::uint8_t> dst)>;

  // One file and the streams in it.
  class File {
   public:
    // file_bytes: its size. tensors: in file order; may be empty.
    File(std::uint64_t file_bytes, std::vector<Extent> tensors, Fetch fetch)
        : bytes_(file_bytes), tensors_(std::move(tensors)), fetch_(std::move(fetch)), streams_(file_bytes, tensors_) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;

   private:
    friend class ReadAhead;
    const std::uint64_t bytes_;
    const std::vector<Extent> tensors_;
    const Fetch fetch_;
    std::mutex mutex_;
    StreamTable streams_;     // guarded by mutex_
    std::size_t in_use_ = 0;  // guarded by the ReadAhead's mutex_; threads at work on it
  };

  explicit ReadAhead(Limits limits);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Notes that [offset, offset + length) of a file is asked for and starts what that foretells. Gives the bytes when all of them were
  // read ahead, waiting for those that are on their way; nothing otherwise: the caller reads for itself.
  std::optional<ByteParts> read(File& file, std::uint64_t offset, std::size_t length);

  // Ends all work on a file; returns when no thread is in it.
  void forget(File& file);

 private:
  enum class State { queued, running, ready, failed };
  struct Chunk;
  using ChunkPtr = std::shared_ptr<Chunk>;
  struct Key {
    const File* file;
    std::uint64_t index;  // offset / kChunkBytes
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      return std::hash<const void*>()(key.file) ^ static_cast<std::size_t>(key.index * 0x9E3779B97F4A7C15ULL);
    }
  };

  using Lock = std::unique_lock<std::mutex>;  // of mutex_; a function that takes one may let go of it meanwhile, the others hold it throughout

  void enqueue(File& file, const StreamTable::Plan& plan);
  bool make_room(const StreamTable::Plan& plan, const File& file);
  // Chunks that hold all of the range; none when something is missing.
  std::array<ChunkPtr, ByteParts::kMost> covering(const File& file, Extent asked) const;
  bool settle(Lock& lock, const ChunkPtr& chunk);
  void run(Lock& lock, const ChunkPtr& chunk);
  void use(const ChunkPtr& chunk, std::uint64_t bytes);
  void drop(const ChunkPtr& chunk);
  bool ready_to_work();
  void work();

  const Limits limits_;
  const std::function<void()> thread_body_ = [this] { work(); };
  BufferPool buffers_;
  std::mutex mutex_;
  std::condition_variable work_came_;
  std::condition_variable state_changed_;              // a chunk was finished, or a file left
  std::unordered_map<Key, ChunkPtr, KeyHash> chunks_;  // guarded by mutex_
  std::list<ChunkPtr> by_age_;                         // guarded by mutex_; all of chunks_, oldest first
  std::deque<ChunkPtr> queue_;                         // guarded by mutex_; dropped ones are passed over
  bool stopping_ = false;                              // guarded by mutex_
  std::vector<std::thread> threads_;                   // guarded by mutex_ until the destructor
};

}  // namespace vouchfs::verify
