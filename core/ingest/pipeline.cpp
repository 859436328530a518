#include "ingest/pipeline.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/threads.h"

namespace vouchfs::ingest {
namespace {

// Buffers that readers fill and every stage takes, in order. Turn n uses buffer n % size, when all stages are done with what was there.
class Ring {
 public:
  struct Turn {
    std::uint64_t number = 0;
    std::span<std::uint8_t> buffer;
  };

  Ring(PipelineShape shape, std::size_t stages) : filled_(shape.buffers), taken_(stages) {
    for (std::size_t i = 0; i < shape.buffers; ++i) buffers_.emplace_back(shape.buffer_bytes);
  }

  // The next turn, for this reader alone, once its buffer is free; nothing after the end, or when stopped.
  std::optional<Turn> to_fill() {
    std::unique_lock lock(mutex_);
    const std::uint64_t turn = next_++;
    changed_.wait(lock, [&] { return over(turn) || turn - *std::min_element(taken_.begin(), taken_.end()) < buffers_.size(); });
    if (over(turn)) return std::nullopt;
    return Turn{turn, buffers_[turn % buffers_.size()].span()};
  }
  // A buffer that is not full is the last.
  void filled(const Turn& turn, std::size_t bytes) {
    change([&] {
      filled_[turn.number % buffers_.size()] = {turn.number, bytes};
      if (bytes < turn.buffer.size()) end_ = std::min(end_, bytes == 0 ? turn.number : turn.number + 1);
    });
  }
  void stop() {
    change([this] { stopped_ = true; });
  }

  // What comes next for this stage; empty after the last, or when stopped.
  std::span<const std::uint8_t> to_take(std::size_t stage) {
    std::unique_lock lock(mutex_);
    const std::uint64_t turn = taken_[stage];
    const std::size_t at = turn % buffers_.size();
    changed_.wait(lock, [&] { return over(turn) || filled_[at].turn == turn; });
    return over(turn) ? std::span<const std::uint8_t>() : buffers_[at].span().first(filled_[at].bytes);
  }
  void taken(std::size_t stage) {
    change([&] { ++taken_[stage]; });
  }

 private:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  struct Filled {
    std::uint64_t turn = kNever;
    std::size_t bytes = 0;
  };

  bool over(std::uint64_t turn) const { return stopped_ || turn >= end_; }
  template <typename Change>
  void change(Change&& apply) {
    {
      const std::lock_guard lock(mutex_);
      apply();
    }
    changed_.notify_all();
  }

  std::vector<AlignedBuffer> buffers_;  // each belongs to a reader, then to the stages, by the turns below
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Filled> filled_;        // guarded by mutex_, like all that follow: what lies in each buffer
  std::vector<std::uint64_t> taken_;  // turns that each stage is done with
  std::uint64_t next_ = 0;            // turn for the next reader
  std::uint64_t end_ = kNever;        // turns there are
  bool stopped_ = false;
};

// The first failure, of whatever kind.
class FirstFailure {
 public:
  void note(Error error) {
    const std::lock_guard lock(mutex_);
    if (!error_ && !thrown_) error_ = std::move(error);
  }
  void note_exception() {
    const std::lock_guard lock(mutex_);
    if (!error_ && !thrown_) thrown_ = std::current_exception();
  }
  // After the threads are joined.
  Status tell() {
    if (thrown_) std::rethrow_exception(thrown_);
    if (error_) return fail(std::move(*error_));
    return {};
  }

 private:
  std::mutex mutex_;
  std::optional<Error> error_;  // guarded by mutex_ while threads run
  std::exception_ptr thrown_;   // guarded by mutex_ while threads run
};

class Pipeline {
 public:
  Pipeline(const ReadAt& read, std::span<const Stage> stages, PipelineShape shape)
      : read_(read), stages_(stages), readers_(shape.readers), ring_(shape, stages.size()) {}

  // Nothing when the threads could not be had; nothing was read then.
  std::optional<Status> run() {
    const std::function<void()> role = [this] { take_role(); };
    const std::size_t wanted = readers_ + stages_.size() - 1;
    std::vector<std::thread> threads = start_threads(wanted, role);
    const bool complete = threads.size() == wanted;
    go_.store(complete ? Go::yes : Go::no);
    go_.notify_all();
    if (complete) guarded([this] { return work(0); });
    for (std::thread& thread : threads) thread.join();
    return complete ? std::optional(failure_.tell()) : std::nullopt;
  }

 private:
  enum class Go { wait, yes, no };

  // Each thread is one of the stages behind the first, or a reader.
  void take_role() {
    go_.wait(Go::wait);
    if (go_.load() == Go::no) return;
    const std::size_t role = ++roles_taken_;
    guarded([&] { return role < stages_.size() ? work(role) : read_all(); });
  }

  template <typename Work>
  void guarded(Work&& work) noexcept {
    try {
      Status done = work();
      if (done) return;
      failure_.note(std::move(done).error());
    } catch (...) {  // it would end the process on this thread; tell() throws it on the caller's
      failure_.note_exception();
    }
    ring_.stop();
  }

  Status read_all() {
    while (const auto turn = ring_.to_fill()) {
      VOUCHFS_ASSIGN(const std::size_t got, read_(turn->number * turn->buffer.size(), turn->buffer));
      ring_.filled(*turn, got);
    }
    return {};
  }

  Status work(std::size_t stage) {
    for (auto bytes = ring_.to_take(stage); !bytes.empty(); bytes = ring_.to_take(stage)) {
      VOUCHFS_TRY(stages_[stage](bytes));
      ring_.taken(stage);
    }
    return {};
  }

  const ReadAt& read_;
  const std::span<const Stage> stages_;
  const std::size_t readers_;
  Ring ring_;
  FirstFailure failure_;
  std::atomic<Go> go_{Go::wait};
  std::atomic<std::size_t> roles_taken_{0};
};

}  // namespace

Status run_pipeline(const ReadAt& read, std::span<const Stage> stages, PipelineShape shape) {
  std::optional<Status> done = Pipeline(read, stages, shape).run();
  return done ? std::move(*done) : run_in_turn(read, stages, shape.buffer_bytes);
}

Status run_in_turn(const ReadAt& read, std::span<const Stage> stages, std::size_t buffer_bytes) {
  AlignedBuffer buffer(buffer_bytes);
  for (std::uint64_t at = 0;;) {
    VOUCHFS_ASSIGN(const std::size_t got, read(at, buffer.span()));
    if (got != 0)
      for (const Stage& stage : stages) VOUCHFS_TRY(stage(buffer.span().first(got)));
    if (got < buffer.size()) return {};
    at += got;
  }
}

}  // namespace vouchfs::ingest
