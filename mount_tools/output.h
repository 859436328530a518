// output.h: what a command says: results and JSON lines on stdout, everything else on stderr.
// Layer:   mount_tools (7).
// Owns:    nothing; borrows the two streams.
// Threads: one thread at a time; while a ProgressLine lives, only that writes to stderr.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/error.h"

namespace vouchfs::mount_tools {

class Output {
 public:
  // err_is_terminal: progress may be a bar that rewrites its line.
  Output(std::ostream& out, std::ostream& err, bool err_is_terminal) noexcept : out_(out), err_(err), terminal_(err_is_terminal) {}

  // Set from --json and --quiet before the command runs.
  void set_mode(bool json, bool quiet) noexcept {
    json_ = json;
    quiet_ = quiet;
  }
  bool json() const noexcept { return json_; }
  bool quiet() const noexcept { return quiet_; }
  bool terminal() const noexcept { return terminal_; }

  // A line people asked for ("sha256:… FILE"): stdout, not with --json. As it is, but for what a CI server would take for a command.
  void result(std::string_view line);
  // Lines that are commands to a CI server: stdout, not with --json. Written as they are.
  void log_commands(std::string_view lines);
  // A line that only informs: stdout, neither with --json nor with --quiet.
  void note(std::string_view line);
  // One JSON line: stdout, only with --json. The object holds its "type".
  void record(const nlohmann::ordered_json& object);
  // The same for an object that is text already, without its "type".
  void record_text(std::string_view type, std::string_view object);
  // stderr, and {"type":"warning"} with --json. Shown with --quiet too: a warning is not progress.
  void warning(std::string_view line);
  // stderr, and {"type":"error"} with --json.
  void error(const Error& error);
  // A line of bare text on stderr: help after a misuse, progress.
  std::ostream& err() noexcept { return err_; }
  std::ostream& out() noexcept { return out_; }
  // Flushes; false when what was said could not be written (full disk, closed pipe).
  bool flush();

 private:
  std::ostream& out_;
  std::ostream& err_;
  bool terminal_;
  bool json_ = false;
  bool quiet_ = false;
};

}  // namespace vouchfs::mount_tools
