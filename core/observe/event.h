// event.h: one thing that happened and must be explained later, and the log that keeps them.
// Layer:   core/observe (1).
// Threads: EventLog is safe for concurrent calls, guarded by its mutex; the human log line is written with no lock held.
// Cost:    a repeat of a known event is one lock and one hash lookup. Memory is bounded: the newest kKeptEvents are kept.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace vouchfs::observe {

inline constexpr std::size_t kKeptEvents = 8192;

struct SourceOutcome {
  std::string name;     // "model", "replica:/mnt/copy"
  std::string outcome;  // "mismatch", "EIO", "short at 12345", "ok"
};

// DESIGN section 7. Strings that do not apply are empty, numbers absent; every field is written all the same.
struct Event {
  std::string event;  // corrupt_block, corrupt_tree, transient_mismatch, source_error, open_refused, index_corrected, model_hidden
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
  std::vector<std::string> changes;  // of index_corrected: one text a changed entry
  pid_t pid = 0;
  uid_t uid = 0;
};

class EventLog {
 public:
  // Records an event. One that repeats (same event, model, file, block, expected, actual, result, detail) only counts up.
  void record(const Event& event);
  // Every kept event as JSON lines, oldest first; of one model when model is given.
  std::string to_json_lines(const std::optional<std::string>& model) const;
  // How many times events of this kind were recorded, repeats included.
  std::uint64_t count(const std::string& event) const;
  std::uint64_t dropped() const;  // events forgotten because newer ones came

 private:
  struct Kept {
    Event event;
    std::string time;  // RFC 3339, UTC, of the first occurrence
    std::string last_time;
    std::uint64_t count = 1;
    std::string key;
  };
  mutable std::mutex mutex_;
  std::list<Kept> kept_;                                              // guarded by mutex_
  std::unordered_map<std::string, std::list<Kept>::iterator> index_;  // guarded by mutex_
  std::unordered_map<std::string, std::uint64_t> counts_;             // guarded by mutex_
  std::uint64_t dropped_ = 0;                                         // guarded by mutex_
};

// "2026-01-31T12:00:00.123Z" for now.
std::string utc_now();

}  // namespace vouchfs::observe
