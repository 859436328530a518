// `vouchfs doctor`: says what is wrong with models, why, and what to do. Nothing is written but what --junit names.
#include <pwd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "doctor/catalogue.h"
#include "doctor/doctor.h"
#include "mount_tools/command.h"
#include "mount_tools/engine.h"
#include "mount_tools/interrupt.h"
#include "mount_tools/progress.h"

namespace vouchfs::mount_tools {
namespace {

using doctor::Finding;
using doctor::Report;
using doctor::Verdict;
using nlohmann::ordered_json;

constexpr std::size_t kUsualWidth = 100;
constexpr std::size_t kWidest = 160;

struct Options {
  std::vector<std::string> paths;
  std::string as_user;
  std::string seal_dir;
  std::string revision;
  std::string junit;
  unsigned jobs = 0;
  bool deep = false;
  bool ci = false;
  bool codes = false;
};

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualWidth;
  return std::min<std::size_t>(size.ws_col, kWidest);
}

// A number, or the name of an account.
Result<uid_t> parse_user(const std::string& text) {
  uid_t user = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), user);
  if (problem == std::errc() && end == text.data() + text.size() && user != static_cast<uid_t>(-1)) return user;
  if (const passwd* entry = ::getpwnam(text.c_str())) return entry->pw_uid;
  return fail(ErrorCode::invalid_argument, "there is no user '" + text + "'", {}, "give the name of an account, or a number");
}

Result<doctor::DoctorOptions> doctor_options(const Options& options) {
  doctor::DoctorOptions wanted;
  wanted.deep = options.deep;
  wanted.jobs = options.jobs;
  if (!options.seal_dir.empty()) wanted.gather.seal_dir = options.seal_dir;
  if (!options.revision.empty()) wanted.gather.revision = options.revision;
  if (!options.as_user.empty()) {
    VOUCHFS_ASSIGN(const uid_t user, parse_user(options.as_user));
    wanted.gather.as_user = user;
  }
  return wanted;
}

ordered_json optional_number(const std::optional<std::uint64_t>& number) { return number ? ordered_json(*number) : ordered_json(nullptr); }

void say_finding(const Report& report, const Finding& finding, Output& output) {
  output.record({{"type", "finding"},
                 {"path", report.path},
                 {"code", finding.code},
                 {"severity", doctor::to_string(finding.severity)},
                 {"file", finding.file},
                 {"offset", optional_number(finding.offset)},
                 {"length", optional_number(finding.length)},
                 {"tensors", finding.tensors},
                 {"message", finding.message},
                 {"loader", finding.loader},
                 {"advice", finding.advice},
                 {"command", finding.command}});
}

std::string without_last_end(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// The verdict goes on counting them.
Report without_notes(Report report) {
  auto& all = report.findings;
  all.erase(std::remove_if(all.begin(), all.end(), [](const Finding& finding) { return finding.severity == doctor::Severity::note; }), all.end());
  return report;
}

void say_report(const Report& report, const Options& options, Output& output) {
  for (const Finding& finding : report.findings) say_finding(report, finding, output);
  if (output.json()) return;
  const Report shown = output.quiet() ? without_notes(report) : report;
  if (options.ci) return output.log_commands(without_last_end(doctor::to_annotations(shown)));
  output.result(without_last_end(doctor::to_text(shown, terminal_width())));
}

Result<Report> diagnose(const std::string& path, const doctor::DoctorOptions& options, const std::shared_ptr<const hash::Sha256Engine>& engine, Output& output,
                        const CancelFlag& cancel) {
  doctor::DeepProgress progress;
  std::optional<ProgressLine> line;
  if (options.deep) line.emplace(output, "doctor", [&] { return ProgressNow{progress.bytes_done, progress.bytes_total}; });
  return doctor::diagnose(path, options, engine, progress, cancel);
}

// One summary for all of them, with the worst verdict.
void say_summary(const std::vector<Report>& reports, Output& output) {
  Report all;
  for (const Report& report : reports) {
    all.verdict = std::max(all.verdict, report.verdict);
    all.errors += report.errors;
    all.warnings += report.warnings;
    all.notes += report.notes;
    all.models += report.models;
    all.files += report.files;
    all.tensors += report.tensors;
    all.bytes += report.bytes;
    for (const std::string& need : report.needs)
      if (std::find(all.needs.begin(), all.needs.end(), need) == all.needs.end()) all.needs.push_back(need);
  }
  output.record({{"type", "summary"},
                 {"verdict", doctor::to_string(all.verdict)},
                 {"errors", all.errors},
                 {"warnings", all.warnings},
                 {"notes", all.notes},
                 {"models", all.models},
                 {"files", all.files},
                 {"tensors", all.tensors},
                 {"bytes", all.bytes},
                 {"needs", all.needs}});
}

Status write_junit(const std::string& path, const std::vector<Report>& reports, const std::vector<doctor::Unexamined>& unexamined) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << doctor::to_junit(reports, unexamined);
  file.flush();
  if (!file) return fail(errno_error(errno, "cannot write", path));
  return {};
}

ExitCode exit_code_of_verdict(Verdict verdict) {
  switch (verdict) {
    case Verdict::whole:
      return ExitCode::ok;
    case Verdict::incomplete:
      return ExitCode::incomplete;
    case Verdict::damaged:
    case Verdict::unusable:
      return ExitCode::corruption;
  }
  return ExitCode::corruption;
}

ExitCode say_codes(Output& output) {
  for (const doctor::CodeFacts& facts : doctor::catalogue()) {
    const std::string verdict = facts.severity == doctor::Severity::error ? std::string(", ") + doctor::to_string(facts.verdict) : "";
    output.result(std::string(facts.code) + ": " + doctor::to_string(facts.severity) + verdict + ": " + std::string(facts.title));
    output.record({{"type", "code"},
                   {"code", facts.code},
                   {"severity", doctor::to_string(facts.severity)},
                   {"verdict", doctor::to_string(facts.verdict)},
                   {"title", facts.title},
                   {"loader", facts.loader},
                   {"advice", facts.advice}});
  }
  return ExitCode::ok;
}

ExitCode run_doctor(const Options& options, Output& output) {
  if (options.codes) return say_codes(output);
  if (options.paths.empty()) return failed(output, make_error(ErrorCode::invalid_argument, "no PATH is given", {}, "name a model, a file, a cache or a store"));
  CancelFlag cancel;
  const InterruptWatch watch(cancel);
  const auto wanted = doctor_options(options);
  if (!wanted) return failed(output, wanted.error());
  const auto engine = chosen_engine(output);
  std::vector<Report> reports;
  std::vector<doctor::Unexamined> unexamined;
  std::optional<ExitCode> trouble;  // of a PATH that could not be looked at
  for (const std::string& path : options.paths) {
    auto report = diagnose(path, *wanted, engine, output, cancel);
    if (report) {
      say_report(*report, options, output);
      reports.push_back(*std::move(report));
      continue;
    }
    const ExitCode code = failed(output, report.error());
    if (report.error().code == ErrorCode::cancelled) return code;
    if (!trouble) trouble = code;
    unexamined.push_back({path, report.error()});
    if (options.ci) output.log_commands(without_last_end(doctor::to_annotation(unexamined.back())));
  }
  if (!reports.empty()) say_summary(reports, output);
  if (!options.junit.empty())
    if (const Status written = write_junit(options.junit, reports, unexamined); !written) return failed(output, written.error());
  Verdict worst = Verdict::whole;
  for (const Report& report : reports) worst = std::max(worst, report.verdict);
  return trouble.value_or(exit_code_of_verdict(worst));
}

}  // namespace

Run add_doctor(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("path", options->paths, "models, files, caches, stores, ollama:NAME:TAG")->type_name("PATH");
  app.add_flag("--deep", options->deep, "read every byte: digests, zeros, NaN and Inf");
  app.add_option("--as", options->as_user, "judge access as this user, by name or number")->type_name("USER");
  app.add_option("--seal", options->seal_dir, "the seal lies there instead of in PATH/.vouch")->type_name("DIR");
  app.add_option("--revision", options->revision, "ref or commit, where PATH is models--org--name")->type_name("REV");
  app.add_option("--jobs", options->jobs, "threads of --deep; 0: one a core")->capture_default_str()->type_name("N")->check(CLI::Range(0U, 1024U));
  app.add_flag("--ci", options->ci, "print GitHub annotations instead of text");
  app.add_option("--junit", options->junit, "also write a JUnit file")->type_name("FILE");
  app.add_flag("--codes", options->codes, "print every code and its meaning, and exit");
  return [options](Output& output) { return run_doctor(*options, output); };
}

}  // namespace vouchfs::mount_tools
