#include "mount_tools/background.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/log.h"
#include "base/unique_fd.h"
#include "mount_tools/command.h"

namespace vouchfs::mount_tools {
namespace {

constexpr char kReady = 'R';

void let_go_of_streams() {
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.valid()) return;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null.get(), stream);
}

ExitCode run_child(UniqueFd& to_parent, const std::function<ExitCode(const std::function<void()>&)>& work) {
  ::setsid();
  if (::chdir("/") != 0) log::warning("cannot change to /");
  const auto ready = [&] {
    log::use_syslog("vouchfs");
    let_go_of_streams();
    [[maybe_unused]] const ssize_t told = ::write(to_parent.get(), &kReady, 1);
    to_parent.reset();
  };
  return work(ready);
}

ExitCode wait_for_child(Output& output, pid_t child, const UniqueFd& from_child) {
  char word = 0;
  ssize_t got = 0;
  do {
    got = ::read(from_child.get(), &word, 1);
  } while (got < 0 && errno == EINTR);
  if (got == 1 && word == kReady) return ExitCode::ok;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) return static_cast<ExitCode>(WEXITSTATUS(status));
  return failed(output, make_error(ErrorCode::mount_failed, "the background process ended before it was ready"));
}

}  // namespace

ExitCode run_in_background(Output& output, const std::function<ExitCode(const std::function<void()>&)>& work, bool& is_child) {
  output.flush();  // what is buffered must not be written twice
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed(output, errno_error(errno, "cannot make a pipe"));
  UniqueFd from_child(ends[0]);
  UniqueFd to_parent(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return failed(output, errno_error(errno, "cannot fork"));
  is_child = child == 0;
  if (is_child) {
    from_child.reset();
    return run_child(to_parent, work);
  }
  to_parent.reset();
  return wait_for_child(output, child, from_child);
}

}  // namespace vouchfs::mount_tools
