// `vouchfs ingest`: reads a model once and publishes its seal; --check says whether the seal on disk still fits.
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/utf8.h"
#include "ingest/ingest.h"
#include "mount_tools/command.h"
#include "mount_tools/engine.h"
#include "mount_tools/interrupt.h"
#include "mount_tools/place_options.h"
#include "mount_tools/progress.h"
#include "seal/seal_directory.h"

namespace vouchfs::mount_tools {
namespace {

using nlohmann::ordered_json;

struct Options {
  ingest::IngestOptions ingest;
  std::string model;
  std::string seal_dir;
  std::string revision;
  std::string rate = "0";
  std::string check_publisher = "auto";
  std::vector<std::string> fixes;
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

// What the publisher's digests said, in a line for people.
std::string publisher_text(const ingest::PublisherSummary& publisher) {
  if (publisher.mode == ingest::PublisherMode::off) return "publisher: not checked";
  if (publisher.ok == 0 && publisher.mismatches.empty()) return "publisher: no digests of it were found";
  std::string kinds;
  for (const std::string& kind : publisher.kinds) kinds += (kinds.empty() ? "" : ", ") + kind;
  std::string text = "publisher: " + counted(publisher.ok, "file") + " as published (" + kinds + ")";
  if (!publisher.without.empty()) text += ", " + std::to_string(publisher.without.size()) + " without evidence";
  return text;
}

void say_fixes(const ingest::IngestReport& report, Output& output) {
  for (const seal::FileFix& fix : report.fixes) {
    std::string kinds;
    for (const std::string& kind : fix.kinds) kinds += (kinds.empty() ? "" : ", ") + kind;
    output.note("mended in the view: " + printable(fix.path) + " (" + kinds + ")");
    output.record({{"type", "fix"},
                   {"path", fix.path},
                   {"kinds", fix.kinds},
                   {"size", fix.bytes},
                   {"fsverity", hash::to_hex(fix.fsverity)},
                   {"sha256", hash::to_hex(fix.sha256)}});
  }
}

void say(const Options& options, const ingest::IngestReport& report, double seconds, Output& output) {
  for (const std::string& warning : report.warnings) output.warning(warning);
  for (const std::string& folder : report.left_out) {
    if (folder != seal::kSealFolder) output.note("left out: " + printable(folder));
    output.record({{"type", "left_out"}, {"path", folder}});
  }
  if (report.resumed_files != 0) output.note("taken over from an interrupted run: " + counted(report.resumed_files, "file"));
  say_fixes(report, output);
  output.note(publisher_text(report.publisher));
  const std::string facts = counted(report.files, "file") + ", " + format_bytes(report.bytes) + ", " + counted(report.tensors, "tensor");
  if (!options.ingest.check_only)
    output.note("sealed " + printable(options.model) + ": " + facts + "\nmodel digest " + hash::to_text(report.model_digest));
  else if (report.differences.empty())
    output.note("the seal of " + printable(options.model) + " fits: " + facts + "\nmodel digest " + hash::to_text(report.model_digest));
  output.record({{"type", "summary"},
                 {"model_digest", hash::to_text(report.model_digest)},
                 {"files", report.files},
                 {"bytes", report.bytes},
                 {"tensors", report.tensors},
                 {"resumed_files", report.resumed_files},
                 {"fixes", report.fixes.size()},
                 {"warnings", report.warnings.size()},
                 {"differences", report.differences.size()},
                 {"publisher_check", ingest::to_string(report.publisher.mode)},
                 {"publisher_ok", report.publisher.ok},
                 {"publisher_mismatches", report.publisher.mismatches.size()},
                 {"publisher_without", report.publisher.without.size()},
                 {"publisher_exempt", report.publisher.exempt},
                 {"publisher_absent", report.publisher.absent.size()},
                 {"seconds", seconds}});
}

ExitCode report_differences(const Options& options, const ingest::IngestReport& report, Output& output) {
  if (report.differences.empty()) return ExitCode::ok;
  for (const ingest::SealDifference& difference : report.differences) {
    output.result(printable(difference.path) + ": " + difference.what);
    output.record({{"type", "difference"}, {"file", difference.path}, {"message", difference.what}});
  }
  return failed(output, make_error(ErrorCode::corrupt, "the seal does not fit: " + counted(report.differences.size(), "difference"), options.model,
                                   "ingest again if the model is meant to be so; else see `vouchfs verify` for what is damaged"));
}

// From the words of the command line to what ingest works on.
Status complete(Options& options) {
  VOUCHFS_ASSIGN(publisher::Place place, publisher::resolve_place(options.model, if_given(options.revision)));
  options.ingest.model_dir = place.model_dir;
  options.ingest.place = std::move(place);
  options.ingest.seal_dir = if_given(options.seal_dir);
  const auto mode = ingest::publisher_mode_from(options.check_publisher);
  if (!mode) return fail(ErrorCode::invalid_argument, "'" + options.check_publisher + "' is no way to check the publisher", {}, "write auto, require or off");
  options.ingest.check_publisher = *mode;
  VOUCHFS_ASSIGN(options.ingest.bytes_per_second, parse_bytes(options.rate));
  VOUCHFS_ASSIGN(options.ingest.fixes, ingest::fix_wishes(options.fixes));
  return {};
}

ExitCode run_ingest(Options options, Output& output) {
  if (const Status completed = complete(options); !completed) return failed(output, completed.error());
  const auto start = std::chrono::steady_clock::now();
  const auto report = ingest_with_progress(options, output);
  if (!report) return failed(output, report.error());
  say(options, *report, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), output);
  return report_differences(options, *report, output);
}

}  // namespace

Run add_ingest(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("model", options->model, "directory of the model, or ollama:NAME:TAG")->required()->type_name("MODEL");
  app.add_option("--seal", options->seal_dir, "write the seal there instead of MODEL/.vouch; DIR is created, its parent is not")->type_name("DIR");
  app.add_option("--jobs", options->ingest.jobs, "files read at once; 0: one a core")->capture_default_str()->type_name("N")->check(CLI::Range(0U, 1024U));
  app.add_option("--rate", options->rate, "read at most SIZE bytes a second, all files together; 0: no limit")->capture_default_str()->type_name("SIZE");
  app.add_flag("--check", options->ingest.check_only, "write nothing; exit 0 when the seal on disk still fits, 3 when not");
  app.add_flag("--strict", options->ingest.strict, "refuse broken headers, unknown dtypes, wrong indexes and missing shards");
  app.add_option("--check-publisher", options->check_publisher, "digests the publisher left: auto refuses what differs, require also what has none, off")
      ->capture_default_str()
      ->type_name("auto|require|off");
  app.add_option("--fix", options->fixes, "mend files in the view, not on disk: bom (leave out a byte order mark), format (add {\"format\":\"pt\"})")
      ->delimiter(',')
      ->type_name("bom,format");
  app.add_option("--revision", options->revision, "of a models--ORG--NAME folder: a ref or commit; main when absent")->type_name("REV");
  return [options](Output& output) { return run_ingest(*options, output); };
}

}  // namespace vouchfs::mount_tools
