// `vouchfs verify`: reads and checks every byte of a model, a store, or what a mount serves; names the tensors hit.
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/utf8.h"
#include "mount_tools/command.h"
#include "mount_tools/engine.h"
#include "mount_tools/interrupt.h"
#include "mount_tools/place_options.h"
#include "mount_tools/progress.h"
#include "mount_tools/verify_targets.h"
#include "view/model_check.h"

namespace vouchfs::mount_tools {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kNamedTensors = 8;  // in a line for people; records hold them all

struct Options {
  std::string path;
  std::string seal_dir;
  std::string digest;
  std::string revision;
  std::string rate = "0";
  unsigned jobs = 0;
};

struct Checked {
  view::ModelCheck check;
  std::string digest;
  double seconds = 0;
};

std::string tensor_text(const std::vector<std::string>& tensors) {
  if (tensors.empty()) return "no tensor";
  std::string text = "tensors";
  for (std::size_t i = 0; i < tensors.size() && i < kNamedTensors; ++i) text += (i == 0 ? " " : ", ") + printable(tensors[i]);
  if (tensors.size() > kNamedTensors) text += " and " + std::to_string(tensors.size() - kNamedTensors) + " more";
  return text;
}

std::string run_text(const view::BadRun& run) {
  std::string text = printable(run.file) + ": ";
  if (run.lost) text += "the file is lost";
  else if (run.kind == verify::BadKind::tree) text += "its tree is damaged, the data cannot be judged";
  else text += view::to_string(run.kind);
  if (run.blocks != 0)
    text += ", block " + std::to_string(run.block) + (run.blocks > 1 ? " to " + std::to_string(run.block + run.blocks - 1) : "") + " (bytes " +
            std::to_string(run.offset) + " to " + std::to_string(run.offset + run.length - 1) + ")";
  text += ", " + tensor_text(run.tensors);
  return run.detail.empty() || run.lost ? text : text + "; " + printable(run.detail);
}

void say_run(const std::string& model, const view::BadRun& run, Output& output) {
  output.result(run_text(run));
  output.record({{"type", "corrupt"},
                 {"model", model},
                 {"file", run.file},
                 {"block", run.block},
                 {"offset", run.offset},
                 {"length", run.length},
                 {"blocks", run.blocks},
                 {"tensors", run.tensors},
                 {"kind", run.lost ? "lost" : view::to_string(run.kind)},
                 {"detail", run.detail}});
}

void say_summary(const std::string& model, const Checked& checked, Output& output) {
  const view::ModelCheck& check = checked.check;
  for (const view::BadRun& run : check.runs) say_run(model, run, output);
  if (check.transient != 0) output.warning(model + ": " + std::to_string(check.transient) + " blocks were right only when read again past the cache");
  std::string text = printable(model) + ": " + std::to_string(check.files) + " files, " + format_bytes(check.bytes) + ", " + std::to_string(check.blocks) + " blocks: ";
  text += check.runs.empty() ? "all right" : std::to_string(check.corrupt_blocks) + " blocks bad";
  if (check.runs.empty()) output.note(text + "\nmodel digest " + checked.digest);
  else output.result(text);
  output.record({{"type", "summary"},
                 {"model", model},
                 {"model_digest", checked.digest},
                 {"files", check.files},
                 {"bytes", check.bytes},
                 {"blocks", check.blocks},
                 {"corrupt_blocks", check.corrupt_blocks},
                 {"seconds", checked.seconds}});
}

Result<Checked> check_with_progress(const view::SealedModel& model, unsigned jobs, RateLimit& rate, Output& output, const CancelFlag& cancel) {
  const auto start = std::chrono::steady_clock::now();
  view::CheckProgress progress;
  const ProgressLine line(output, "verify", [&] { return ProgressNow{progress.bytes_done, progress.bytes_total}; });
  VOUCHFS_ASSIGN(view::ModelCheck check, view::check_model(model, jobs, progress, cancel, &rate));
  return Checked{std::move(check), hash::to_text(model.seal().model_digest), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
}

// The verdict on one model: ok, corruption, or why it could not be checked.
ExitCode verify_one(const view::ModelOptions& target, const Options& options, RateLimit& rate, view::Runtime& runtime, Output& output, const CancelFlag& cancel) {
  const auto model = view::SealedModel::open(target, runtime);
  if (!model) return failed(output, model.error());
  const auto checked = check_with_progress(**model, options.jobs, rate, output, cancel);
  if (!checked) return failed(output, checked.error());
  say_summary((*model)->name(), *checked, output);
  if (checked->check.runs.empty()) return ExitCode::ok;
  return failed(output, make_error(ErrorCode::corrupt, std::to_string(checked->check.corrupt_blocks) + " of " + std::to_string(checked->check.blocks) + " blocks are bad",
                                   (*model)->options().model_dir, "bring back the files named above from a good copy, then verify again"));
}

Result<view::ModelOptions> model_options(const Options& options) {
  view::ModelOptions model;
  if (!options.seal_dir.empty()) model.seal_dir = options.seal_dir;
  if (options.digest.empty()) return model;
  VOUCHFS_ASSIGN(model.digest, hash::parse_text(options.digest));
  return model;
}

ExitCode run_verify(const Options& options, Output& output) {
  CancelFlag cancel;
  const InterruptWatch watch(cancel);
  const auto wanted = model_options(options);
  if (!wanted) return failed(output, wanted.error());
  const auto bytes_per_second = parse_bytes(options.rate);
  if (!bytes_per_second) return failed(output, bytes_per_second.error());
  const auto targets = verify_targets(options.path, *wanted, if_given(options.revision));
  if (!targets) return failed(output, targets.error());
  RateLimit rate(*bytes_per_second);  // of all models together
  view::Runtime runtime(chosen_engine(output));
  ExitCode verdict = ExitCode::ok;  // of several models: corruption outweighs everything but an interruption
  for (const view::ModelOptions& target : *targets) {
    const ExitCode code = verify_one(target, options, rate, runtime, output, cancel);
    if (code == ExitCode::interrupted) return code;
    if (verdict == ExitCode::ok || code == ExitCode::corruption) verdict = code;
  }
  return verdict;
}

}  // namespace

Run add_verify(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("path", options->path, "a sealed model, a directory of sealed models, a mount point, or ollama:NAME:TAG")->required()->type_name("MODEL|MOUNTPOINT");
  app.add_option("--seal", options->seal_dir, "the seal lies there instead of in MODEL/.vouch")->type_name("DIR");
  app.add_option("--digest", options->digest, "accept only the seal with this model digest")->type_name("sha256:HEX");
  app.add_option("--revision", options->revision, "of a models--ORG--NAME folder: a ref or commit; main when absent")->type_name("REV");
  app.add_option("--jobs", options->jobs, "threads; 0: one a core")->capture_default_str()->type_name("N")->check(CLI::Range(0U, 1024U));
  app.add_option("--rate", options->rate, "read at most SIZE bytes a second; 0: no limit")->capture_default_str()->type_name("SIZE");
  return [options](Output& output) { return run_verify(*options, output); };
}

}  // namespace vouchfs::mount_tools
