// `vouchfs warm`: puts verified pages of a mount into the kernel's page cache, says what is there, or takes it out.
#include <sys/xattr.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "base/bytes.h"
#include "base/utf8.h"
#include "mount_tools/command.h"
#include "mount_tools/interrupt.h"
#include "mount_tools/progress.h"
#include "mount_tools/warm_files.h"

namespace vouchfs::mount_tools {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::vector<std::string> tensors;
  unsigned jobs = 0;
  bool check = false;
  bool evict = false;
};

// Whole percents, and 0% and 100% only when it is none and all of it.
std::string percent_text(std::uint64_t part, std::uint64_t whole) {
  if (part == whole) return "100%";
  const auto percent = static_cast<unsigned>(static_cast<double>(part) / static_cast<double>(whole) * 100);
  return part != 0 && percent == 0 ? "<1%" : std::to_string(std::min(percent, 99U)) + "%";
}

// Exact bytes: shares are what people compare here.
std::string share_text(const std::string& what, std::uint64_t there, std::uint64_t bytes) {
  return what + ": " + percent_text(there, bytes) + " of " + std::to_string(bytes) + " bytes in the page cache";
}

bool is_known_bad(const std::string& path) {
  std::array<char, 16> state{};
  const ssize_t got = ::getxattr(path.c_str(), "user.vouch.state", state.data(), state.size());
  return got > 0 && std::string_view(state.data(), static_cast<std::size_t>(got)) == "bad";
}

// MemAvailable of proc(5) in bytes; 0 when the kernel does not tell.
std::uint64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    std::uint64_t kibibytes = 0;
    if (word == "MemAvailable:" && file >> kibibytes) return kibibytes << 10;
  }
  return 0;
}

class Warming {
 public:
  Warming(const Options& options, std::vector<WarmFile> files, Output& output)
      : options_(options), files_(std::move(files)), output_(output), there_(files_.size()) {
    for (const WarmFile& file : files_) bytes_ += file.bytes;
  }

  ExitCode run(const CancelFlag& cancel) {
    count();
    if (options_.evict) evict();
    if (!options_.check && !options_.evict) warm(cancel);
    if (cancel.requested()) return failed(output_, make_error(ErrorCode::cancelled, "interrupted"));
    report();
    return verdict_;
  }

 private:
  void evict() {
    for (const WarmFile& file : files_)
      if (const Status done = evict_file(file); !done) blame(file, done.error());
    count();
    if (const std::uint64_t left = resident(); left != 0) output_.warning(std::to_string(left) + " bytes stay in the page cache: they are mapped or in use");
  }

  void warm(const CancelFlag& cancel) {
    const std::uint64_t missing = bytes_ - resident();
    if (const std::uint64_t memory = available_memory(); memory != 0 && missing > memory)
      output_.warning(format_bytes(missing) + " are to be read and " + format_bytes(memory) +
                      " of memory are available: the page cache will not hold them all");
    WarmProgress progress;
    auto unread = [&] {
      const ProgressLine line(output_, "warm", [&] { return ProgressNow{progress.bytes_done, bytes_}; });
      return warm_files(files_, options_.jobs, progress, cancel);
    }();
    if (!unread) return;  // interrupted
    for (std::size_t i = 0; i < files_.size(); ++i) say_unread(files_[i], (*unread)[i]);
    count();
    if (unread_bytes_ == 0 && resident() < bytes_) output_.warning("not all of it is in the page cache: the kernel dropped pages again (memory or a limit of this control group is short), or the mount has files pinned");
  }

  void say_unread(const WarmFile& file, const std::vector<Unread>& runs) {
    if (runs.empty()) return;
    const std::uint64_t bytes =
        std::accumulate(runs.begin(), runs.end(), std::uint64_t{0}, [](std::uint64_t sum, const Unread& run) { return sum + run.range.bytes(); });
    unread_bytes_ += bytes;
    for (const Unread& run : runs) output_.record({{"type", "unread"}, {"file", file.path}, {"offset", run.range.begin}, {"length", run.range.bytes()}});
    Error error = errno_error(runs.front().sys_errno, std::to_string(bytes) + " bytes in " + std::to_string(runs.size()) + " places cannot be read, the first",
                              file.path);
    error.where.offset = runs.front().range.begin;
    error.where.length = runs.front().range.bytes();
    blamed_.insert(&file);
    blame(file, std::move(error));
  }

  // What the mount knows to be bad outweighs what could not be asked or read for other reasons.
  void blame(const WarmFile& file, Error error) {
    if (is_known_bad(file.path)) {
      error.code = ErrorCode::corrupt;
      error.advice = "the mount knows it as bad; see why with: vouchfs status " + file.mount_point;
    }
    if (error.sys_errno == ENOTCONN) {
      error.code = ErrorCode::mount_failed;
      error.advice = "the daemon of this mount is gone; end it with: vouchfs umount " + file.mount_point;
    }
    const ExitCode code = failed(output_, error);
    if (verdict_ == ExitCode::ok || code == ExitCode::corruption) verdict_ = code;
  }

  // A file that cannot be asked, such as one whose open is refused, is blamed once, and counts as if nothing of it were there.
  void count() {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const auto there = resident_bytes(files_[i]);
      there_[i] = there ? *there : 0;
      if (!there && blamed_.insert(&files_[i]).second) blame(files_[i], there.error());
    }
  }

  std::uint64_t resident() const { return std::accumulate(there_.begin(), there_.end(), std::uint64_t{0}); }

  void report() const {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (options_.check && files_.size() > 1) output_.result(share_text(printable(files_[i].path), there_[i], files_[i].bytes));
      output_.record({{"type", "file"}, {"file", files_[i].path}, {"bytes", files_[i].bytes}, {"resident_bytes", there_[i]}});
    }
    const std::string what = files_.size() == 1 ? printable(files_.front().path) : std::to_string(files_.size()) + " files";
    const std::string text = share_text(what, resident(), bytes_);
    if (options_.check)
      output_.result(text);
    else
      output_.note(text);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    output_.record({{"type", "summary"},
                    {"files", files_.size()},
                    {"bytes", bytes_},
                    {"resident_bytes", resident()},
                    {"unread_bytes", unread_bytes_},
                    {"seconds", seconds}});
  }

  const Options& options_;
  const std::vector<WarmFile> files_;
  Output& output_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<std::uint64_t> there_;  // [i]: bytes of files_[i] in the page cache
  std::set<const WarmFile*> blamed_;
  std::uint64_t bytes_ = 0;
  std::uint64_t unread_bytes_ = 0;
  ExitCode verdict_ = ExitCode::ok;
};

ExitCode run_warm(const Options& options, Output& output) {
  CancelFlag cancel;
  const InterruptWatch watch(cancel);
  auto files = warm_targets(options.paths, options.tensors);
  if (!files) return failed(output, files.error());
  return Warming(options, std::move(*files), output).run(cancel);
}

}  // namespace

Run add_warm(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("path", options->paths, "mount points, and folders and files in mounts; globs are expanded")->required()->type_name("PATH");
  app.add_option("--tensor", options->tensors, "only the bytes of tensors whose names match; may be repeated")->type_name("GLOB")->allow_extra_args(false);
  app.add_option("--jobs", options->jobs, "threads; 0: one a core")->capture_default_str()->type_name("N")->check(CLI::Range(0U, 1024U));
  CLI::Option* const check = app.add_flag("--check", options->check, "read nothing; say what share is in the page cache");
  app.add_flag("--evict", options->evict, "take the pages out of the page cache instead")->excludes(check);
  return [options](Output& output) { return run_warm(*options, output); };
}

}  // namespace vouchfs::mount_tools
