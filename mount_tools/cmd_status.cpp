// `vouchfs status`: what a mount serves and what it found.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/log_text.h"
#include "mount_tools/command.h"
#include "mount_tools/mount_status.h"
#include "view/status_text.h"

namespace vouchfs::mount_tools {
namespace {

ExitCode run_status(const std::string& mount_point, Output& output) {
  const auto status = read_mount_status(mount_point);
  if (!status) return failed(output, status.error());
  output.record_text("status", *status);
  if (output.json()) return ExitCode::ok;
  const auto text = view::status_text(*status);
  if (!text) return failed(output, text.error());
  output.out() << without_log_commands(*text);
  return ExitCode::ok;
}

}  // namespace

Run add_status(CLI::App& app) {
  auto mount_point = std::make_shared<std::string>();
  app.add_option("mount-point", *mount_point, "a mount of vouchfs")->required()->type_name("MOUNTPOINT");
  return [mount_point](Output& output) { return run_status(*mount_point, output); };
}

}  // namespace vouchfs::mount_tools
