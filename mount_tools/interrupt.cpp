#include "mount_tools/interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include <cerrno>

#include "mount_tools/exit_code.h"

namespace vouchfs::mount_tools {

InterruptWatch::InterruptWatch(CancelFlag& flag) {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGINT);
  sigaddset(&wanted, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &wanted, &before_);
  signals_ = UniqueFd(::signalfd(-1, &wanted, SFD_CLOEXEC));
  stop_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  if (signals_.valid() && stop_.valid()) thread_ = std::thread([this, &flag] { wait(flag); });
}

void InterruptWatch::wait(CancelFlag& flag) const {
  for (;;) {
    pollfd watched[2] = {{signals_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (::poll(watched, 2, -1) < 0 && errno != EINTR) return;
    if (watched[1].revents != 0) return;
    signalfd_siginfo info{};
    if (watched[0].revents == 0 || ::read(signals_.get(), &info, sizeof info) != sizeof info) continue;
    if (flag.requested()) ::_exit(to_int(ExitCode::interrupted));
    flag.request();
  }
}

InterruptWatch::~InterruptWatch() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t put = ::write(stop_.get(), &one, sizeof one);
    thread_.join();
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace vouchfs::mount_tools
