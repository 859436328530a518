// Files and sizes against the seal, without reading them: what is gone, what grew or shrank, what came.
#include <algorithm>

#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/checks.h"

namespace vouchfs::doctor {
namespace {

std::vector<std::string> sealed_tensors(const ModelFacts& model, const std::string& path, std::uint64_t from) {
  for (const seal::TableFile& row : model.table.files)
    if (row.path == path) return tensors_past(row.tensors, from);
  return {};
}

void say_missing(const ModelFacts& model, const seal::ManifestFile& sealed, Findings& findings) {
  Finding finding = about(model, sealed.path, "seal.missing_file");
  finding.message = "missing: the model was sealed with it, " + bytes_text(sealed.bytes) + ", sha256 " + hash::to_hex(sealed.sha256);
  finding.loader = {"No such file or directory: \"" + base_name(sealed.path) + "\""};
  finding.command = fetch_command(model, sealed.path);
  findings.add(std::move(finding));
}

void say_size(const ModelFacts& model, const FileFacts& file, const seal::ManifestFile& sealed, Findings& findings) {
  Finding finding = about(model, file.path, "seal.size_mismatch");
  finding.offset = std::min(file.bytes, sealed.bytes);
  finding.length = std::max(file.bytes, sealed.bytes) - *finding.offset;
  if (file.bytes < sealed.bytes) {
    finding.tensors = file.tensors() != nullptr ? tensors_past(*file.tensors(), file.bytes) : sealed_tensors(model, file.path, file.bytes);
    finding.message = "cut: sealed with " + bytes_text(sealed.bytes) + ", now " + std::to_string(file.bytes) + ": " + bytes_text(*finding.length) + " lost";
  } else {
    finding.message = "grown: sealed with " + bytes_text(sealed.bytes) + ", now " + std::to_string(file.bytes) +
                      "; a mount still shows it as it was sealed if those bytes are right";
  }
  finding.command = fetch_command(model, file.path);
  findings.add(std::move(finding));
}

void compare(const ModelFacts& model, const seal::ManifestFile& sealed, Findings& findings) {
  if (findings.has_error(model.shown_path(sealed.path))) return;
  const FileFacts* file = model.find(sealed.path);
  if (file == nullptr) return say_missing(model, sealed, findings);
  if (file->presence == Presence::readable && file->bytes != sealed.bytes) say_size(model, *file, sealed, findings);
}

bool is_sealed(const seal::Manifest& manifest, const std::string& path) {
  const auto at =
      std::lower_bound(manifest.files.begin(), manifest.files.end(), path, [](const seal::ManifestFile& file, const std::string& p) { return file.path < p; });
  return at != manifest.files.end() && at->path == path;
}

void say_unsealed(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  Finding finding = about(model, file.path, "seal.unsealed_file");
  finding.message = "came after the model was sealed: a mount does not show it";
  finding.command = "vouchfs ingest " + shell_word(model.place.model_dir);
  findings.add(std::move(finding));
}

}  // namespace

void check_seal(const ModelFacts& model, Findings& findings) {
  if (!model.seal_trouble.empty()) {
    Finding finding;
    finding.code = "seal.unusable";
    finding.file = model.shown;
    finding.message = "the seal in " + printable(model.seal_dir) + " cannot be used: " + model.seal_trouble;
    finding.command = "vouchfs ingest " + shell_word(model.place.model_dir);
    findings.add(std::move(finding));
  }
  if (!model.sealed) return;
  for (const seal::ManifestFile& sealed : model.sealed->files)
    if (!model.single_file || model.find(sealed.path) != nullptr) compare(model, sealed, findings);
  for (const FileFacts& file : model.files)
    if (file.presence == Presence::readable && !is_sealed(*model.sealed, file.path)) say_unsealed(model, file, findings);
}

}  // namespace vouchfs::doctor
