// `vouchfs index`: the shard index that a mount would show, for people who do not mount: printed, or written beside the shards.
#include <fcntl.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/utf8.h"
#include "ingest/ingest.h"
#include "mount_tools/command.h"
#include "mount_tools/engine.h"
#include "mount_tools/interrupt.h"
#include "mount_tools/place_options.h"
#include "publisher/place.h"
#include "seal/seal_directory.h"
#include "view/choose_index.h"
#include "view/index_writer.h"
#include "view/sealed_model.h"

namespace vouchfs::mount_tools {
namespace {

using view::ChosenIndex;
using view::IndexOrigin;

struct Options {
  std::string model;
  std::string revision;
  std::string seal_dir;
  std::string folder;
  std::string name;
  bool single = false;
  bool write = false;
  bool force = false;
};

// The model as its seal knows it, or as it lies there.
struct Model {
  publisher::Place place;
  std::unique_ptr<view::Runtime> runtime;     // of a sealed model
  std::unique_ptr<view::SealedModel> sealed;  // borrows the runtime
  seal::TensorTable table;                    // of one that is not sealed
  const seal::TensorTable& tensors() const { return sealed ? sealed->seal().table : table; }
};

bool has_seal(const std::string& path) {
  struct stat info {};
  return ::stat((path + "/" + seal::kManifestName).c_str(), &info) == 0;
}

Result<Model> open_model(const Options& options, Output& output, const CancelFlag& cancel) {
  Model model;
  VOUCHFS_ASSIGN(model.place, publisher::resolve_place(options.model, if_given(options.revision)));
  const std::string seal_dir = seal_of(model.place, options.seal_dir);
  if (options.seal_dir.empty() && !has_seal(seal_dir)) {
    VOUCHFS_ASSIGN(model.table, ingest::inspect(model.place, cancel));
    return model;
  }
  model.runtime = std::make_unique<view::Runtime>(chosen_engine(output));
  view::ModelOptions opening;
  opening.seal_dir = seal_dir;
  point_at(model.place, opening);
  VOUCHFS_ASSIGN(model.sealed, view::SealedModel::open(std::move(opening), *model.runtime));
  return model;
}

// The publisher's file: with a seal only bytes that fit it.
Result<std::string> published_text(const Model& model, const std::string& path) {
  const auto index = model.sealed ? model.sealed->find(path) : std::nullopt;
  if (!index) return read_whole_file(AT_FDCWD, model.place.model_dir + "/" + path, formats::kMaxIndexBytes, model.place.model_dir + "/" + path);
  AlignedBuffer buffer;
  VOUCHFS_ASSIGN(const auto bytes, model.sealed->read(*index, 0, formats::kMaxIndexBytes, buffer, {}));
  return std::string(bytes.begin(), bytes.end());
}

std::string counted(std::size_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

void warn_of(const ChosenIndex& index, Output& output) {
  if (index.origin == IndexOrigin::broken) output.warning(index.path + ": the index is wrong, and what its shards hold is not known, so it is shown as it is");
  for (const std::string& missing : index.record.missing_files) output.warning(index.path + ": the shard " + printable(missing) + " is missing");
}

nlohmann::ordered_json facts_of(const char* type, const ChosenIndex& index) {
  return {{"type", type},
          {"path", index.path},
          {"family", formats::to_string(index.record.family)},
          {"state", to_string(index.origin)},
          {"files", index.record.members.size()},
          {"corrections", index.record.corrections.size()},
          {"missing_files", index.record.missing_files}};
}

ExitCode print(const Model& model, const ChosenIndex& index, Output& output) {
  const bool as_published = index.origin == IndexOrigin::published || index.origin == IndexOrigin::broken;
  auto text = as_published ? published_text(model, index.path) : Result<std::string>(index.made);
  if (!text) return failed(output, text.error());
  warn_of(index, output);
  if (!output.json()) output.out() << *text;
  auto record = facts_of("index", index);
  record["text"] = *text;
  output.record(record);
  return ExitCode::ok;
}

// Why nothing may be written, before anything is.
Status check_writable(const Model& model, const ChosenIndex& index, const Options& options) {
  const std::string shown = model.place.model_dir + "/" + index.path;
  if (model.place.kind == publisher::PlaceKind::ollama)
    return fail(ErrorCode::invalid_argument, "an Ollama model has no folder of its own that an index could be written into", options.model,
                "print it without --write");
  if (!index.record.missing_files.empty())
    return fail(ErrorCode::incomplete,
                "nothing written: an index would make the model look complete, but the shard " + printable(index.record.missing_files.front()) + " is missing" +
                    (index.record.missing_files.size() > 1 ? " (and " + std::to_string(index.record.missing_files.size() - 1) + " more)" : ""),
                shown, "fetch what is missing, then run this again");
  if (index.made.empty()) return fail(ErrorCode::bad_format, "nothing written: what the shards hold is not known", shown, "see `vouchfs doctor`");
  const bool in_seal = model.sealed && model.sealed->find(index.path).has_value();
  if (in_seal && !options.force)
    return fail(ErrorCode::busy, "nothing written: the file is sealed as it is, and a mount shows it put right already", shown,
                "with --force it is replaced; then ingest the model again");
  return view::check_replaceable({model.place.model_dir, index.path, options.force}, index.origin == IndexOrigin::corrected);
}

ExitCode write(const Model& model, const ChosenIndex& index, const Options& options, Output& output) {
  const bool stays = index.origin == IndexOrigin::published && index.record.missing_files.empty() && !options.force;
  bool kept = false;
  if (!stays) {
    if (const Status may = check_writable(model, index, options); !may) return failed(output, may.error());
    const auto written = view::write_index({model.place.model_dir, index.path, options.force}, index.made);
    if (!written) return failed(output, written.error());
    kept = *written;
    if (model.sealed) output.warning("the seal of the model does not know " + index.path + " as it is now: ingest the model again");
  }
  const std::string where = printable(model.place.model_dir + "/" + index.path);
  output.note(stays ? where + " is right as it is: nothing written"
                    : "wrote " + where + " over " + counted(index.record.members.size(), "file") + (kept ? "; the one before is " + where + ".orig" : ""));
  auto record = facts_of("summary", index);
  record["written"] = !stays;
  output.record(record);
  return ExitCode::ok;
}

ExitCode run_index(const Options& options, Output& output) {
  CancelFlag cancel;
  const InterruptWatch watch(cancel);
  const auto model = open_model(options, output, cancel);
  if (!model) return failed(output, model.error());
  view::IndexWish wish;
  if (!options.folder.empty()) wish.folder = options.folder;
  if (!options.name.empty()) wish.name = options.name;
  wish.single = options.single;
  const auto index = view::choose_index(model->tensors(), wish, options.model);
  if (!index) return failed(output, index.error());
  return options.write ? write(*model, *index, options, output) : print(*model, *index, output);
}

}  // namespace

Run add_index(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("model", options->model, "directory of the model, snapshot, models--org--name, or ollama:NAME:TAG")->required()->type_name("MODEL");
  app.add_option("--revision", options->revision, "ref or commit of a models--org--name folder")->type_name("REV");
  app.add_option("--seal", options->seal_dir, "the seal lies there instead of in MODEL/.vouch")->type_name("DIR");
  app.add_option("--folder", options->folder, "the index of this folder of the model; . is the model itself")->type_name("DIR");
  app.add_option("--name", options->name, "the index of this name")->type_name("FILE");
  app.add_flag("--single", options->single, "also for a model of one file, which loaders need none for");
  app.add_flag("--write", options->write, "write it beside the shards instead of printing it");
  app.add_flag("--force", options->force, "write over a file that is right, sealed, or no index");
  return [options](Output& output) { return run_index(*options, output); };
}

}  // namespace vouchfs::mount_tools
