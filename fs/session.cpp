#include "fs/session.h"

#include <fuse_lowlevel.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/log.h"
#include "fs/context.h"
#include "fs/mount_table.h"
#include "fs/operations.h"
#include "fs/passthrough.h"
#include "fs/pinner.h"
#include "fs/readahead.h"
#include "source/handle_pool.h"

namespace vouchfs::fs {
namespace {

constexpr unsigned kFewestThreads = 8;
constexpr unsigned kMostThreads = 32;
constexpr std::chrono::seconds kPatience{2};  // with the thread that pins, at the end

ssize_t read_hook(int fd, void* buffer, std::size_t length, void* userdata) { return static_cast<Context*>(userdata)->transport.read(fd, buffer, length); }

ssize_t write_hook(int fd, iovec* parts, int count, void* userdata) { return static_cast<Context*>(userdata)->transport.write(fd, parts, count); }

__attribute__((format(printf, 2, 0))) void log_hook(fuse_log_level level, const char* format, va_list arguments) {
  char line[1024];
  std::vsnprintf(line, sizeof line, format, arguments);
  std::string_view text(line);
  while (text.ends_with('\n')) text.remove_suffix(1);
  log::write(level <= FUSE_LOG_ERR ? log::Level::error : level <= FUSE_LOG_NOTICE ? log::Level::warning : log::Level::debug, text);
}

// In a list of mount options a comma ends the value and a backslash takes the meaning of the next character away.
std::string escaped(const std::string& value) {
  std::string out;
  for (const char c : value) {
    if (c == ',' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

std::string option_list(const SessionOptions& options) {
  std::string list = "fsname=" + escaped(options.source) + ",subtype=vouchfs,ro,nosuid,nodev,default_permissions";
  if (options.allow_other) list += ",allow_other";
  for (const std::string& extra : options.extra) list += "," + extra;
  return list;
}

unsigned worker_count(unsigned wanted) {
  if (wanted != 0) return wanted;
  return std::clamp(4 * std::thread::hardware_concurrency(), kFewestThreads, kMostThreads);
}

// Why nothing can be pinned; empty when it can.
std::string pin_obstacle(const Transport& transport, int device_fd) {
  if (!transport.passthrough_agreed()) return "the kernel does not offer FUSE passthrough (Linux 6.9 or newer with CONFIG_FUSE_PASSTHROUGH)";
  const Status tried = try_passthrough(device_fd);
  if (tried) return {};
  return tried.error().sys_errno == EPERM ? "the kernel allows FUSE passthrough only to root (CAP_SYS_ADMIN)" : tried.error().describe();
}

}  // namespace

struct Session::Impl {
  explicit Impl(view::MountView& view, SessionOptions options_in) : options(std::move(options_in)), context(view) {
    if (options.pin) context.transport.want_passthrough();
  }
  ~Impl() {
    pinner.reset();
    if (session == nullptr) return;
    fuse_remove_signal_handlers(session);
    fuse_session_unmount(session);
    fuse_session_destroy(session);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  SessionOptions options;
  Context context;
  fuse_session* session = nullptr;
  std::shared_ptr<view::PinProgress> pin_progress;  // null when nothing was asked for
  std::optional<std::string> pin_device;            // of the mount, for the end
  std::unique_ptr<Pinner> pinner;                   // null when nothing can be pinned

  Status attach();
  Status answer_init();
  void prepare_pins();
  PinKernel pin_kernel() const;
  void stop_pinning();
  void raise_readahead();
  void tell_view();
};

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::mount(view::MountView& view, SessionOptions options) {
  auto impl = std::make_unique<Impl>(view, std::move(options));
  VOUCHFS_TRY(impl->attach());
  return std::unique_ptr<Session>(new Session(std::move(impl)));
}

Status Session::Impl::attach() {
  fuse_set_log_func(log_hook);
  std::string list = option_list(options);
  std::string program = "vouchfs", flag = "-o";
  char* words[] = {program.data(), flag.data(), list.data(), nullptr};
  fuse_args arguments = FUSE_ARGS_INIT(3, words);
  session = fuse_session_new(&arguments, &operations(), sizeof(fuse_lowlevel_ops), &context);
  fuse_opt_free_args(&arguments);
  const auto failed = [&](const char* what, const char* advice) { return fail(ErrorCode::mount_failed, what, options.mount_point, advice); };
  if (session == nullptr) return failed("libfuse does not accept the mount options", "");
  if (fuse_set_signal_handlers(session) != 0) return failed("signal handlers cannot be set", "");
  if (fuse_session_mount(session, options.mount_point.c_str()) != 0)
    return failed("cannot be mounted on", "see the line above; /dev/fuse must be there and readable, and a plain user needs fusermount3 and a folder of their own");
  fuse_custom_io io{};
  io.read = read_hook;
  io.writev = write_hook;
  if (fuse_session_custom_io(session, &io, fuse_session_fd(session)) != 0) return failed("libfuse takes no transport hooks", "libfuse 3.14 or newer is needed");
  return {};
}

// INIT is answered before any worker runs: what depends on it (read-ahead) is then in place before the first reader comes.
Status Session::Impl::answer_init() {
  fuse_buf request{};
  while (fuse_session_exited(session) == 0 && context.transport.init_request().empty()) {
    const int got = fuse_session_receive_buf(session, &request);
    if (got == -EINTR) continue;
    if (got <= 0) break;
    fuse_session_process_buf(session, &request);
  }
  std::free(request.mem);
  if (context.transport.init_request().empty() && fuse_session_exited(session) == 0)
    return fail(ErrorCode::mount_failed, "the kernel did not start the FUSE session", options.mount_point);
  return {};
}

void Session::Impl::raise_readahead() {
  const auto device = device_of_mount(options.mount_point);
  if (!device || options.readahead_kb == 0) return;
  const Status done = write_readahead_kb(*device, options.readahead_kb);
  if (!done)
    log::info("read-ahead stays at the kernel's default; for faster cold reads let root run: echo " + std::to_string(options.readahead_kb) + " > " +
              readahead_knob(*device));
}

// One line says why, when not all that was asked for is going to be pinned.
void Session::Impl::prepare_pins() {
  if (!options.pin) return;
  const view::PinPlan plan = view::plan_pins(context.view, *options.pin);
  const view::PinFacts outlook = view::pin_outlook(plan, *options.pin, pin_obstacle(context.transport, fuse_session_fd(session)));
  if (!outlook.why.empty())
    log::warning((outlook.state == view::PinState::off ? "--pin has no effect: " : "--pin: ") + outlook.why);
  pin_progress = std::make_shared<view::PinProgress>(outlook);
  if (outlook.state == view::PinState::off) return;
  pin_device = device_of_mount(options.mount_point);
  context.pins.expect(plan);
  pinner = std::make_unique<Pinner>(context.pins, pin_progress, pin_kernel(), source::HandlePool::usual_capacity());
}

PinKernel Session::Impl::pin_kernel() const {
  return {ask_verity, [this](int file) { return open_backing(fuse_session_fd(session), file); },
          [this](std::uint64_t parent, const std::string& name) { fuse_lowlevel_notify_inval_entry(session, parent, name.c_str(), name.size()); }};
}

// The thread may be waiting for a look-up that nobody answers any more: then the connection has to end first.
void Session::Impl::stop_pinning() {
  if (pinner == nullptr || pinner->stop(kPatience)) return;
  if (pin_device) abort_connection(*pin_device);
  pinner.reset();
}

void Session::Impl::tell_view() {
  view::MountFacts facts;
  facts.mount_point = options.mount_point;
  facts.worker_pid = ::getpid();
  facts.version = VOUCHFS_VERSION;
  facts.libfuse_version = libfuse_version();
  facts.pin = pin_progress;
  if (const auto device = device_of_mount(options.mount_point)) facts.readahead_kb = read_readahead_kb(*device).value_or(0);
  context.view.set_facts(std::move(facts));
}

Status Session::serve(const std::function<void()>& on_ready) {
  VOUCHFS_TRY(impl_->answer_init());
  impl_->raise_readahead();
  impl_->prepare_pins();
  impl_->tell_view();
  on_ready();
  if (impl_->pinner) impl_->pinner->start();
  fuse_loop_config* config = fuse_loop_cfg_create();
  fuse_loop_cfg_set_max_threads(config, worker_count(impl_->options.threads));
  fuse_loop_cfg_set_clone_fd(config, 0);  // a request read through a cloned descriptor dies with its reader
  const int ended = fuse_session_loop_mt(impl_->session, config);
  fuse_loop_cfg_destroy(config);
  impl_->stop_pinning();
  // Positive: the number of the signal that ended it, which is a way to ask for the end.
  if (ended < 0) return fail(errno_error(-ended, "the FUSE session ended", impl_->options.mount_point));
  return {};
}

std::string libfuse_version() { return fuse_pkgversion(); }

}  // namespace vouchfs::fs
