// `vouchfs version`: the version, and which optional parts this build and this machine have.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "mount_tools/command.h"
#include "mount_tools/engine.h"
#include "mount_tools/version.h"
#include "publisher/evidence.h"

namespace vouchfs::mount_tools {
namespace {

struct Facts {
  bool multi_buffer = hash::make_multi_buffer_engine() != nullptr;
#ifdef VOUCHFS_WITH_MOUNT
  bool mount = true;
#else
  bool mount = false;
#endif
};

ExitCode run_version(Output& output) {
  const Facts facts;
  const std::string hash(chosen_engine(output)->name());
  output.result("vouchfs " + std::string(version()));
  output.result("hash backends: openssl" + std::string(facts.multi_buffer ? ", mb (multi-buffer)" : "") + "; in use: " + hash);
  output.result(std::string("mount: ") + (facts.mount ? "libfuse " VOUCHFS_LIBFUSE_VERSION : "not compiled in"));
  output.result(std::string("git: ") + (publisher::can_read_git() ? "libgit2" : "not compiled in: digests in Git repositories are not looked at"));
  output.result("build: " VOUCHFS_BUILD_TYPE);
  std::vector<std::string> backends = {"openssl"};
  if (facts.multi_buffer) backends.emplace_back("mb");
  nlohmann::ordered_json object = {{"type", "version"}, {"version", version()}, {"hash_backends", backends}, {"hash", hash}, {"build_type", VOUCHFS_BUILD_TYPE}};
  object["libfuse"] = facts.mount ? nlohmann::ordered_json(VOUCHFS_LIBFUSE_VERSION) : nlohmann::ordered_json(nullptr);
  object["git"] = publisher::can_read_git();
  output.record(object);
  return ExitCode::ok;
}

}  // namespace

const char* version() noexcept { return VOUCHFS_VERSION; }

Run add_version(CLI::App&) { return run_version; }

}  // namespace vouchfs::mount_tools
