#include "mount_tools/progress.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ostream>

#include "base/bytes.h"

namespace vouchfs::mount_tools {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr std::chrono::milliseconds kBarEvery{200};
constexpr std::chrono::seconds kLineEvery{10};  // DESIGN section 6

std::string time_left(double seconds) {
  char text[48];
  const auto s = static_cast<long long>(std::ceil(seconds));
  if (s < 120) std::snprintf(text, sizeof text, "%lld s left", s);
  else if (s < 7200) std::snprintf(text, sizeof text, "%lld min left", s / 60);
  else std::snprintf(text, sizeof text, "%lld h %lld min left", s / 3600, s % 3600 / 60);
  return text;
}

std::string bar_text(double share) {
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(kBarWidth));
  return "[" + std::string(filled, '#') + std::string(kBarWidth - filled, ' ') + "]  ";
}

}  // namespace

std::string progress_text(const std::string& verb, const ProgressNow& now, double seconds, bool bar) {
  const double total = static_cast<double>(now.bytes_total);
  const double done = static_cast<double>(now.bytes_done < now.bytes_total ? now.bytes_done : now.bytes_total);
  const double share = total > 0 ? done / total : 0;
  const double rate = seconds > 0 ? done / seconds : 0;
  char percent[16];
  std::snprintf(percent, sizeof percent, " %3.0f%% ", std::floor(share * 100));
  std::string text = verb + percent + (bar ? bar_text(share) : "") + format_bytes(now.bytes_done) + " of " + format_bytes(now.bytes_total);
  if (rate >= 1) text += "  " + format_bytes(static_cast<std::uint64_t>(rate)) + "/s  " + time_left((total - done) / rate);
  return text;
}

ProgressLine::ProgressLine(Output& output, std::string verb, std::function<ProgressNow()> look) : output_(output), verb_(std::move(verb)), look_(std::move(look)) {
  if (!output_.quiet()) thread_ = std::thread([this] { show_until_stopped(); });
}

void ProgressLine::show_until_stopped() {
  const bool bar = output_.terminal();
  const auto every = bar ? kBarEvery : std::chrono::milliseconds(kLineEvery);
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, every, [this] { return stop_; })) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::string text = progress_text(verb_, look_(), seconds, bar);
    if (bar) output_.err() << '\r' << text << "\x1b[K" << std::flush;
    else output_.err() << text << std::endl;
  }
  if (bar) output_.err() << "\r\x1b[K" << std::flush;
}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace vouchfs::mount_tools
