// Good safetensors files with something worth knowing. Nothing here is wrong: every finding is a note, or a warning of an empty file.
#include <set>

#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "doctor/needs.h"

namespace vouchfs::doctor {
namespace {

using formats::SafetensorsHeader;

constexpr std::uint64_t kAlignment = 8;

void note(const ModelFacts& model, const FileFacts& file, const char* code, std::string message, Findings& findings) {
  Finding finding = about(model, file.path, code);
  finding.message = std::move(message);
  findings.add(std::move(finding));
}

void check_format(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  const SafetensorsHeader& header = *file.safetensors;
  if (header.format && (*header.format == "pt" || *header.format == "tf" || *header.format == "flax" || *header.format == "np" || *header.format == "mlx"))
    return;
  const std::string why = !header.has_metadata ? "the header has no __metadata__"
                          : header.format      ? "__metadata__ has another format than readers know"
                                               : "__metadata__ has no format";
  Finding finding = about(model, file.path, "safetensors.no_format");
  finding.message = why + "; some readers want {\"format\": \"pt\"}";
  if (!model.single_file) finding.command = "vouchfs ingest " + shell_word(model.place.model_dir) + " --fix=format";
  findings.add(std::move(finding));
}

void check_needs(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  const auto needed = safetensors_needed(file);
  if (!needed) return;
  Finding finding = about(model, file.path, "safetensors.needs_newer");
  std::set<std::string> dtypes;
  for (const formats::Tensor& tensor : file.safetensors->tensors) {
    if (!version_for_dtype(tensor.dtype)) continue;
    dtypes.insert(tensor.dtype);
    finding.tensors.push_back(tensor.name);
  }
  finding.message = "whole, needs " + *needed + ": " + count_text(finding.tensors.size(), "tensor") + " of dtype " + list_text({dtypes.begin(), dtypes.end()});
  findings.add(std::move(finding));
}

void check_file(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  const SafetensorsHeader& header = *file.safetensors;
  const bool adapter = base_name(file.path).starts_with("adapter_model");
  if (header.tensors.empty()) {
    if (!adapter) note(model, file, "safetensors.no_tensors", "a valid file without tensors: did the save fail?", findings);
    return;
  }
  check_format(model, file, findings);
  check_needs(model, file, findings);
  if (header.data_offset % kAlignment != 0)
    note(model, file, "safetensors.unaligned",
         "tensor data begins at byte " + std::to_string(header.data_offset) + ", which is no multiple of 8: mapped reads are unaligned", findings);
  if (file.head.size() > kAlignment && file.head[kAlignment] != '{')
    note(model, file, "safetensors.leading_blanks", "blanks stand before the brace of the header", findings);
}

}  // namespace

void check_safetensors_notes(const ModelFacts& model, Findings& findings) {
  for (const FileFacts& file : model.files)
    if (file.safetensors && !file.safetensors->problem) check_file(model, file, findings);
}

}  // namespace vouchfs::doctor
