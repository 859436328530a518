// event.h: one thing that happened and must be explained later, and the log that keeps them.
// Layer:   core/observe (1).
// Threads: EventLog is safe for concurrent calls, guarded by its mutex; the human log line is written with no lock held.
// Cost:    a repeat of a known event is one lock and one hash lookup. Memory is bounded by kKeptEvents and kKeptEventBytes: the newest
//          stay. A human log line is written for the first, 10th, 100th … of one event, and no more than LineLimiter lets through.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "observe/line_limiter.h"

namespace vouchfs::observe {

// Events of one mount that are kept, by number and by the bytes of their texts (an index_corrected event can list very many changes).
inline constexpr std::size_t kKeptEvents = 8192;
inline constexpr std::size_t kKeptEventBytes = 64U << 20;

struct SourceOutcome {
  std::string name;     // "model", "replica:/mnt/copy"
  std::string outcome;  // "mismatch", "EIO", "short at 12345", "ok"
};

// DESIGN section 7. Strings that do not apply are empty, numbers absent; every field is written all the same.
struct Event {
  std::string event;  // corrupt_block, corrupt_tree, transient_mismatch, source_error, open_refused, index_corrected, index_wrong, model_hidden
  std::string model;
  std::string file;
  std::optional<std::uint64_t> block;
  std::optional<std::uint64_t> offset;
  std::optional<std::uint64_t> length;
  std::vector<std::string> tensors;
  std::string expected;  // 64 hex digits
  std::string actual;    // 64 hex digits, or empty when there were no bytes to hash
  std::vector<SourceOutcome> sources;
  std::string result;  // eio, served, repaired
  std::string detail;  // anything else worth saying, in words; level and tree block of a damaged tree
  std::optional<unsigned> tree_level;
  std::optional<std::uint64_t> tree_block;
  std::vector<std::string> changes;  // of index_corrected and index_wrong: one text a changed entry
  pid_t pid = 0;
  uid_t uid = 0;
};

class EventLog {
 public:
  explicit EventLog(std::size_t max_events = kKeptEvents, std::size_t max_bytes = kKeptEventBytes) noexcept : max_events_(max_events), max_bytes_(max_bytes) {}
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  ~EventLog();  // says how many lines were held back since the last one

  // Records an event. One that repeats (same event, model, file, block, expected, actual, result, detail) only counts up.
  void record(const Event& event);
  // Every kept event as JSON lines, oldest first; of one model when model is given.
  std::string to_json_lines(const std::optional<std::string>& model) const;
  // How many times events of this kind were recorded, repeats included.
  std::uint64_t count(const std::string& event) const;
  std::uint64_t dropped() const;  // events forgotten because newer ones came

 private:
  struct Kept {
    std::shared_ptr<const Event> event;
    std::string key;
    std::string time;       // RFC 3339, UTC, of the first occurrence
    std::string last_time;  // and of the newest
    std::uint64_t count = 1;
    std::size_t bytes = 0;  // what it adds to kept_bytes_
  };

  std::uint64_t count_one(const Event& event, const std::string& now);
  void keep(const Event& event, std::string key, const std::string& now);
  void forget_oldest();

  const std::size_t max_events_;
  const std::size_t max_bytes_;
  mutable std::mutex mutex_;
  std::list<Kept> kept_;                                                   // guarded by mutex_; in order of first occurrence
  std::unordered_map<std::string_view, std::list<Kept>::iterator> index_;  // guarded by mutex_; the keys lie in kept_
  std::unordered_map<std::string, std::uint64_t> counts_;                  // guarded by mutex_
  std::size_t kept_bytes_ = 0;                                             // guarded by mutex_
  std::uint64_t dropped_ = 0;                                              // guarded by mutex_
  LineLimiter limiter_;                                                    // guarded by mutex_
};

// One event as compact JSON, every field of DESIGN section 7 present; strings that are not UTF-8 get U+FFFD where they are not.
std::string to_json(const Event& event, const std::string& time, const std::string& last_time, std::uint64_t count);
// The same facts as one line for people: control characters escaped, long lists and long names cut short.
std::string to_line(const Event& event, std::uint64_t count);

// "2026-01-31T12:00:00.123Z" for now.
std::string utc_now();

}  // namespace vouchfs::observe
