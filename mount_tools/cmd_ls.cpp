// `vouchfs ls`: the tensors of a model, from its seal, or from the headers of its shards when it has none.
#include <fcntl.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/utf8.h"
#include "ingest/ingest.h"
#include "mount_tools/command.h"
#include "mount_tools/engine.h"
#include "mount_tools/interrupt.h"
#include "mount_tools/place_options.h"
#include "seal/seal_directory.h"

namespace vouchfs::mount_tools {
namespace {

using formats::Tensor;

struct Options {
  std::string model_dir;
  std::string seal_dir;
  std::string revision;
};

constexpr std::size_t kWidestName = 64;

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

std::string padded(std::string text, std::size_t width) { return text.size() < width ? text + std::string(width - text.size(), ' ') : text; }

struct Widths {
  std::size_t name = 4;
  std::size_t dtype = 5;
  std::size_t shape = 5;
};

Widths widths_of(const seal::TensorTable& table) {
  Widths widths;
  for (const seal::TableFile& file : table.files) {
    for (const Tensor& tensor : file.tensors) {
      widths.name = std::max(widths.name, std::min(kWidestName, printable(tensor.name).size()));
      widths.dtype = std::max(widths.dtype, tensor.dtype.size());
      widths.shape = std::max(widths.shape, shape_text(tensor.shape).size());
    }
  }
  return widths;
}

void say_tensor(const seal::TableFile& file, const Tensor& tensor, const Widths& widths, Output& output) {
  if (output.json()) {
    output.record({{"type", "tensor"},
                   {"name", tensor.name},
                   {"dtype", tensor.dtype},
                   {"shape", tensor.shape},
                   {"file", file.path},
                   {"offset", tensor.begin},
                   {"bytes", tensor.bytes()}});
    return;
  }
  output.result(padded(printable(tensor.name), widths.name) + "  " + padded(tensor.dtype, widths.dtype) + "  " + padded(shape_text(tensor.shape), widths.shape) + "  " +
                printable(file.path) + "  " + std::to_string(tensor.begin) + "  " + format_bytes(tensor.bytes()));
}

Result<seal::TensorTable> table_of(const Options& options, Output& output, const CancelFlag& cancel) {
  VOUCHFS_ASSIGN(const publisher::Place place, publisher::locate_place(options.model_dir, if_given(options.revision)));
  const std::string path = seal_of(place, options.seal_dir);
  struct stat info {};
  const bool sealed = ::stat((path + "/" + seal::kManifestName).c_str(), &info) == 0;
  if (!sealed && options.seal_dir.empty()) {
    VOUCHFS_ASSIGN(const publisher::Place whole, publisher::resolve_place(options.model_dir, if_given(options.revision)));
    return ingest::inspect(whole, cancel);
  }
  VOUCHFS_ASSIGN(seal::OpenedSeal seal, seal::open_seal(path, std::nullopt, *chosen_engine(output)));
  return std::move(seal.table);
}

ExitCode run_ls(const Options& options, Output& output) {
  CancelFlag cancel;
  const InterruptWatch watch(cancel);
  const auto table = table_of(options, output, cancel);
  if (!table) return failed(output, table.error());
  const Widths widths = widths_of(*table);
  std::uint64_t tensors = 0;
  std::uint64_t bytes = 0;
  for (const seal::TableFile& file : table->files) {
    if (file.problem) output.warning(file.path + ": its header cannot be used: " + file.problem->name + " (" + file.problem->text + "): " + file.problem->detail);
    for (const Tensor& tensor : file.tensors) {
      say_tensor(file, tensor, widths, output);
      ++tensors;
      bytes += tensor.bytes();
    }
  }
  output.record({{"type", "summary"}, {"tensors", tensors}, {"bytes", bytes}, {"files", table->files.size()}});
  return ExitCode::ok;
}

}  // namespace

Run add_ls(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("model", options->model_dir, "directory of the model, or ollama:NAME:TAG")->required()->type_name("MODEL");
  app.add_option("--seal", options->seal_dir, "the seal lies there instead of in MODEL/.vouch")->type_name("DIR");
  app.add_option("--revision", options->revision, "of a models--ORG--NAME folder: a ref or commit; main when absent")->type_name("REV");
  return [options](Output& output) { return run_ls(*options, output); };
}

}  // namespace vouchfs::mount_tools
