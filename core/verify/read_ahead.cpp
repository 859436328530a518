#include "verify/read_ahead.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/threads.h"

namespace vouchfs::verify {
namespace {

constexpr unsigned kFewestThreads = 3;
constexpr unsigned kMostThreads = 16;

unsigned thread_count(unsigned wanted) { return wanted != 0 ? wanted : std::clamp(std::thread::hardware_concurrency() + 1, kFewestThreads, kMostThreads); }

}  // namespace

struct ReadAhead::Chunk {
  Chunk(File& file_in, std::uint64_t index_in, Extent extent_in, std::uint64_t stream_in)
      : file(file_in), index(index_in), extent(extent_in), stream(stream_in) {}
  File& file;
  const std::uint64_t index;
  const Extent extent;  // within the file; begins on a block
  const std::uint64_t stream;
  State state = State::queued;  // guarded by the ReadAhead's mutex_, as are the two below
  std::uint64_t used = 0;       // bytes handed out
  bool dropped = false;
  std::optional<BufferPool::Lease> bytes;  // written by the one that runs it, before it is ready

  std::uint64_t size() const { return extent.end - extent.begin; }
};

ReadAhead::ReadAhead(Limits limits) : limits_(limits), buffers_(kChunkBytes, limits.chunks) {}

ReadAhead::~ReadAhead() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  work_came_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// --- what readers do --------------------------------------------------------------------------------------------------------

std::optional<ByteParts> ReadAhead::read(File& file, std::uint64_t offset, std::size_t length) {
  const Extent asked{offset, offset + length};
  std::optional<StreamTable::Plan> plan;
  {
    const std::scoped_lock streams(file.mutex_);
    plan = file.streams_.observe(asked);
  }
  Lock lock(mutex_);
  if (plan) enqueue(file, *plan);
  const auto chunks = covering(file, asked);
  if (!chunks.front()) return std::nullopt;
  ++file.in_use_;
  ByteParts out;
  bool whole = true;
  for (const ChunkPtr& chunk : chunks) {
    if (!chunk) break;
    whole = whole && settle(lock, chunk);
    if (!whole) break;
    const Extent part{std::max(asked.begin, chunk->extent.begin), std::min(asked.end, chunk->extent.end)};
    out.add({(*chunk->bytes)->data() + (part.begin - chunk->extent.begin), static_cast<std::size_t>(part.end - part.begin)}, chunk);
    use(chunk, part.end - part.begin);
  }
  if (--file.in_use_ == 0) state_changed_.notify_all();
  return whole ? std::optional(std::move(out)) : std::nullopt;
}

std::array<ReadAhead::ChunkPtr, ByteParts::kMost> ReadAhead::covering(const File& file, Extent asked) const {
  std::array<ChunkPtr, ByteParts::kMost> out;
  const std::uint64_t first = asked.begin / kChunkBytes;
  const std::uint64_t last = (asked.end - 1) / kChunkBytes;
  if (last - first >= out.size()) return {};
  for (std::uint64_t i = first; i <= last; ++i) {
    const auto found = chunks_.find(Key{&file, i});
    if (found == chunks_.end() || found->second->extent.begin > std::max(asked.begin, i * kChunkBytes)) return {};
    out[i - first] = found->second;
  }
  return out;
}

// Sees to it that a chunk is finished: fetches it when nobody has begun, so that no reader waits for the queue. True when its bytes are right.
bool ReadAhead::settle(Lock& lock, const ChunkPtr& chunk) {
  if (chunk->state == State::queued) run(lock, chunk);
  state_changed_.wait(lock, [&] { return chunk->state == State::ready || chunk->state == State::failed; });
  return chunk->state == State::ready;
}

void ReadAhead::use(const ChunkPtr& chunk, std::uint64_t bytes) {
  chunk->used += bytes;
  if (chunk->used >= chunk->size()) drop(chunk);
}

void ReadAhead::drop(const ChunkPtr& chunk) {
  if (std::exchange(chunk->dropped, true)) return;
  chunks_.erase(Key{&chunk->file, chunk->index});
  by_age_.remove(chunk);
}

// --- planning ---------------------------------------------------------------------------------------------------------------

void ReadAhead::enqueue(File& file, const StreamTable::Plan& plan) {
  if (!ready_to_work()) return;
  const std::uint64_t first = plan.ahead.begin / kChunkBytes;
  const std::uint64_t end = (plan.ahead.end + kChunkBytes - 1) / kChunkBytes;
  for (std::uint64_t i = first; i < end; ++i) {
    if (chunks_.contains(Key{&file, i})) continue;
    if (chunks_.size() >= limits_.chunks && !make_room(plan, file)) break;
    const std::uint64_t begin = std::max(i * kChunkBytes, plan.ahead.begin / kBlockBytes * kBlockBytes);
    const Extent extent{begin, std::min((i + 1) * kChunkBytes, file.bytes_)};
    auto chunk = std::make_shared<Chunk>(file, i, extent, plan.stream);
    chunks_.emplace(Key{&file, i}, chunk);
    by_age_.push_back(chunk);
    queue_.push_back(std::move(chunk));
    work_came_.notify_one();
  }
}

// The oldest chunk that is not this stream's goes, unless it is being fetched.
bool ReadAhead::make_room(const StreamTable::Plan& plan, const File& file) {
  const auto spare = std::find_if(by_age_.begin(), by_age_.end(), [&](const ChunkPtr& chunk) {
    const bool own = &chunk->file == &file && chunk->stream == plan.stream && chunk->extent.end > plan.ahead.begin;
    return !own && chunk->state != State::running;
  });
  if (spare == by_age_.end()) return false;
  const ChunkPtr oldest = *spare;
  if (oldest->state == State::queued) oldest->state = State::failed;
  drop(oldest);
  return true;
}

// --- fetching ---------------------------------------------------------------------------------------------------------------

bool ReadAhead::ready_to_work() {
  if (!threads_.empty()) return true;
  if (stopping_) return false;
  threads_ = start_threads(thread_count(limits_.threads), thread_body_);
  return !threads_.empty();
}

void ReadAhead::work() {
  Lock lock(mutex_);
  while (true) {
    work_came_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    const ChunkPtr chunk = std::move(queue_.front());
    queue_.pop_front();
    if (chunk->state != State::queued || chunk->dropped) continue;
    ++chunk->file.in_use_;
    run(lock, chunk);
    if (--chunk->file.in_use_ == 0) state_changed_.notify_all();
  }
}

void ReadAhead::run(Lock& lock, const ChunkPtr& chunk) {
  chunk->state = State::running;
  lock.unlock();
  const auto span = static_cast<std::size_t>(blocks_for(chunk->size())) * kBlockBytes;
  bool right = false;
  try {
    chunk->bytes.emplace(buffers_.lease(kChunkBytes));
    right = chunk->file.fetch_(chunk->extent.begin / kBlockBytes, (*chunk->bytes)->span().first(span));
  } catch (const std::bad_alloc&) {
    right = false;  // the reader that wants it will say so
  }
  lock.lock();
  chunk->state = right ? State::ready : State::failed;
  if (!right) drop(chunk);
  state_changed_.notify_all();
}

// --- ends -------------------------------------------------------------------------------------------------------------------

void ReadAhead::forget(File& file) {
  Lock lock(mutex_);
  for (auto at = by_age_.begin(); at != by_age_.end();) {
    const ChunkPtr chunk = *at++;
    if (&chunk->file != &file) continue;
    if (chunk->state == State::queued) chunk->state = State::failed;
    drop(chunk);
  }
  state_changed_.wait(lock, [&] { return file.in_use_ == 0; });
}

}  // namespace vouchfs::verify
