#include "observe/event.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "base/log.h"

namespace vouchfs::observe {
namespace {

// What makes two events the same one. NUL stands in none of the parts.
std::string key_of(const Event& event) {
  std::string key;
  const auto add = [&key](const std::string& part) { key.append(part).push_back('\0'); };
  add(event.event);
  add(event.model);
  add(event.file);
  add(event.block ? std::to_string(*event.block) : std::string());
  add(event.expected);
  add(event.actual);
  add(event.result);
  add(event.detail);
  return key;
}

std::size_t text_bytes(const Event& event) {
  std::size_t bytes = event.file.size() + event.model.size() + event.detail.size() + sizeof(Event);
  for (const auto& name : event.tensors) bytes += name.size() + sizeof name;
  for (const auto& change : event.changes) bytes += change.size() + sizeof change;
  return bytes;
}

bool is_power_of_ten(std::uint64_t count) {
  while (count >= 10 && count % 10 == 0) count /= 10;
  return count == 1;
}

void tell_held_back(std::uint64_t lines) {
  if (lines > 0) log::warning(std::to_string(lines) + " more lines were held back; every event is in .vouch/events.jsonl of the mount");
}

void write_line(const Event& event, std::uint64_t count, const LineLimiter::Answer& answer) {
  if (answer.verdict == LineLimiter::Verdict::hold_back) return;
  tell_held_back(answer.held_back);
  log::warning(to_line(event, count));
  if (answer.verdict == LineLimiter::Verdict::write_last)
    log::warning("many events: further lines of this second are held back; every event is in .vouch/events.jsonl of the mount");
}

}  // namespace

EventLog::~EventLog() { tell_held_back(limiter_.take_held_back()); }

void EventLog::record(const Event& event) {
  const std::string now = utc_now();
  std::uint64_t count = 0;
  LineLimiter::Answer answer{LineLimiter::Verdict::hold_back, 0};
  {
    const std::lock_guard lock(mutex_);
    count = count_one(event, now);
    if (is_power_of_ten(count)) answer = limiter_.ask(LineLimiter::Clock::now());
  }
  write_line(event, count, answer);
}

std::uint64_t EventLog::count_one(const Event& event, const std::string& now) {
  ++counts_[event.event];
  std::string key = key_of(event);
  if (const auto found = index_.find(key); found != index_.end()) {
    found->second->last_time = now;
    return ++found->second->count;
  }
  keep(event, std::move(key), now);
  return 1;
}

void EventLog::keep(const Event& event, std::string key, const std::string& now) {
  const std::size_t bytes = text_bytes(event) + key.size();
  kept_.push_back({std::make_shared<const Event>(event), std::move(key), now, now, 1, bytes});
  index_.emplace(kept_.back().key, std::prev(kept_.end()));
  kept_bytes_ += bytes;
  while (kept_.size() > 1 && (kept_.size() > max_events_ || kept_bytes_ > max_bytes_)) forget_oldest();
}

void EventLog::forget_oldest() {
  index_.erase(kept_.front().key);
  kept_bytes_ -= kept_.front().bytes;
  kept_.pop_front();
  ++dropped_;
}

std::string EventLog::to_json_lines(const std::optional<std::string>& model) const {
  std::vector<Kept> rows;  // written out without the lock: readers of the log must not hold up those who record
  {
    const std::lock_guard lock(mutex_);
    for (const Kept& kept : kept_)
      if (!model || kept.event->model == *model) rows.push_back({kept.event, {}, kept.time, kept.last_time, kept.count, 0});
  }
  std::string out;
  for (const Kept& row : rows) out += to_json(*row.event, row.time, row.last_time, row.count) + '\n';
  return out;
}

std::uint64_t EventLog::count(const std::string& event) const {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(event);
  return found == counts_.end() ? 0 : found->second;
}

std::uint64_t EventLog::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(now));
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[48];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
                parts.tm_sec, static_cast<int>(millis));
  return text;
}

}  // namespace vouchfs::observe
