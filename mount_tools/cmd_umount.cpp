// `vouchfs umount`: ends a mount in stages: a plain unmount; a wait for those who keep it busy; then a lazy one, which takes the mount
// off its path at once and lets its readers finish; with --force the connection is aborted and readers get errors.
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/bytes.h"
#include "fs/mount_table.h"
#include "mount_tools/command.h"
#include "mount_tools/mount_holders.h"

namespace vouchfs::mount_tools {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kRetryEvery = std::chrono::milliseconds(100);

struct Options {
  std::string mount_point;
  std::string timeout = "5s";
  bool force = false;
};

// fusermount3(1) with its own messages kept away; true when it exited 0.
bool run_fusermount(const std::string& path, bool lazy) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(126);
    ::execlp("fusermount3", "fusermount3", lazy ? "-uz" : "-u", "--", path.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// One attempt; 0 or an errno. Only root may call umount2(2), everybody else asks fusermount3.
int unmount(const std::string& path, int flags) {
  if (::geteuid() == 0) return ::umount2(path.c_str(), flags | UMOUNT_NOFOLLOW) == 0 ? 0 : errno;
  return run_fusermount(path, (flags & MNT_DETACH) != 0) ? 0 : EBUSY;
}

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : ", ") + word;
  return line;
}

class Unmounting {
 public:
  Unmounting(const fs::MountRow& row, Output& output) : row_(row), output_(output) {}

  Status run(double patience, bool force) {
    int failed_with = attempt_until(Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(patience * 1000)));
    if (failed_with == EBUSY) failed_with = let_go(force);
    if (failed_with == 0) return {};
    Error error = errno_error(failed_with, "cannot be unmounted", row_.mount_point);
    error.code = ErrorCode::mount_failed;
    return fail(std::move(error));
  }

 private:
  // The path may have come to hold somebody else's mount in the meantime.
  bool still_ours() const {
    const auto now = fs::find_mount(row_.mount_point);
    return now && now->id == row_.id;
  }

  int attempt(int flags) const { return still_ours() ? unmount(row_.mount_point, flags) : 0; }

  int attempt_until(Clock::time_point end) {
    bool told = false;
    for (;;) {
      const int failed_with = attempt(0);
      if (failed_with != EBUSY || Clock::now() >= end) return failed_with;
      if (!told && !output_.quiet()) output_.err() << "vouchfs: " << row_.mount_point << " is in use by " << joined(holders_of(row_.mount_point)) << "; waiting\n";
      told = true;
      std::this_thread::sleep_for(kRetryEvery);
    }
  }

  int let_go(bool force) {
    const std::string holders = joined(holders_of(row_.mount_point));
    if (force && attempt(MNT_FORCE) == 0) return 0;  // aborts the connection; the mount may still have to be detached
    const int failed_with = attempt(MNT_DETACH);
    if (failed_with == 0)
      output_.warning(row_.mount_point + " was in use by " + (holders.empty() ? "processes that cannot be seen" : holders) +
                      (force ? "; its readers get errors now" : "; it is off its path, and ends when they close their files"));
    return failed_with;
  }

  fs::MountRow row_;
  Output& output_;
};

ExitCode run_umount(const Options& options, Output& output) {
  const auto patience = parse_seconds(options.timeout);
  if (!patience) return failed(output, patience.error());
  const auto row = fs::find_mount(fs::resolve_mount_point(options.mount_point));
  if (!row) return failed(output, make_error(ErrorCode::mount_failed, "nothing is mounted here", options.mount_point));
  if (row->type != "fuse.vouchfs") return failed(output, make_error(ErrorCode::mount_failed, "is a mount of type " + row->type + ", not of vouchfs", options.mount_point, "use umount(8)"));
  const Status done = Unmounting(*row, output).run(*patience, options.force);
  if (!done) return failed(output, done.error());
  output.record({{"type", "summary"}, {"mount_point", row->mount_point}});
  return ExitCode::ok;
}

}  // namespace

Run add_umount(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("mount-point", options->mount_point, "a mount of vouchfs")->required()->type_name("MOUNTPOINT");
  app.add_option("--timeout", options->timeout, "how long to wait for those who keep it busy before it is detached")->type_name("DURATION")->capture_default_str();
  app.add_flag("--force", options->force, "abort the connection of a busy mount: its readers get errors");
  return [options](Output& output) { return run_umount(*options, output); };
}

}  // namespace vouchfs::mount_tools
