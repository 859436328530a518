// `vouchfs ingest`: reads a model once and publishes its seal; --check says whether the seal on disk still fits.
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/utf8.h"
#include "ingest/ingest.h"
#include "mount_tools/command.h"
#include "mount_tools/engine.h"
#include "mount_tools/interrupt.h"
#include "mount_tools/progress.h"
#include "seal/seal_directory.h"

namespace vouchfs::mount_tools {
namespace {

using nlohmann::ordered_json;

struct Options {
  ingest::IngestOptions ingest;
  std::string seal_dir;
};

Result<ingest::IngestReport> ingest_with_progress(const Options& options, Output& output) {
  CancelFlag cancel;
  const InterruptWatch watch(cancel);  // first, so that every thread inherits its mask
  auto engine = chosen_engine(output);
  ingest::IngestProgress progress;
  const ProgressLine line(output, options.ingest.check_only ? "check" : "ingest", [&] { return ProgressNow{progress.bytes_done, progress.bytes_total}; });
  return ingest::ingest(options.ingest, std::move(engine), progress, cancel);
}

std::string counted(std::uint64_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

void say(const Options& options, const ingest::IngestReport& report, double seconds, Output& output) {
  for (const std::string& warning : report.warnings) output.warning(warning);
  for (const std::string& folder : report.left_out) {
    if (folder != seal::kSealFolder) output.note("left out: " + printable(folder));
    output.record({{"type", "left_out"}, {"path", folder}});
  }
  if (report.resumed_files != 0) output.note("taken over from an interrupted run: " + counted(report.resumed_files, "file"));
  const std::string facts = counted(report.files, "file") + ", " + format_bytes(report.bytes) + ", " + counted(report.tensors, "tensor");
  if (!options.ingest.check_only)
    output.note("sealed " + printable(options.ingest.model_dir) + ": " + facts + "\nmodel digest " + hash::to_text(report.model_digest));
  else if (report.differences.empty())
    output.note("the seal of " + printable(options.ingest.model_dir) + " fits: " + facts + "\nmodel digest " + hash::to_text(report.model_digest));
  output.record({{"type", "summary"},
                 {"model_digest", hash::to_text(report.model_digest)},
                 {"files", report.files},
                 {"bytes", report.bytes},
                 {"tensors", report.tensors},
                 {"resumed_files", report.resumed_files},
                 {"warnings", report.warnings.size()},
                 {"differences", report.differences.size()},
                 {"seconds", seconds}});
}

ExitCode report_differences(const Options& options, const ingest::IngestReport& report, Output& output) {
  if (report.differences.empty()) return ExitCode::ok;
  for (const ingest::SealDifference& difference : report.differences) {
    output.result(printable(difference.path) + ": " + difference.what);
    output.record({{"type", "difference"}, {"file", difference.path}, {"message", difference.what}});
  }
  return failed(output, make_error(ErrorCode::corrupt, "the seal does not fit: " + counted(report.differences.size(), "difference"), options.ingest.model_dir,
                                   "ingest again if the model is meant to be so; else see `vouchfs verify` for what is damaged"));
}

ExitCode run_ingest(const Options& options, Output& output) {
  const auto start = std::chrono::steady_clock::now();
  const auto report = ingest_with_progress(options, output);
  if (!report) return failed(output, report.error());
  say(options, *report, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), output);
  return report_differences(options, *report, output);
}

}  // namespace

Run add_ingest(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("model", options->ingest.model_dir, "directory of the model")->required()->type_name("MODEL");
  app.add_option("--seal", options->seal_dir, "write the seal there instead of MODEL/.vouch; DIR is created, its parent is not")->type_name("DIR");
  app.add_option("--jobs", options->ingest.jobs, "files read at once; 0: one a core")->capture_default_str()->type_name("N")->check(CLI::Range(0U, 1024U));
  app.add_flag("--check", options->ingest.check_only, "write nothing; exit 0 when the seal on disk still fits, 3 when not");
  app.add_flag("--strict", options->ingest.strict, "refuse broken headers, unknown dtypes, wrong indexes and missing shards");
  return [options](Output& output) {
    if (!options->seal_dir.empty()) options->ingest.seal_dir = options->seal_dir;
    return run_ingest(*options, output);
  };
}

}  // namespace vouchfs::mount_tools
