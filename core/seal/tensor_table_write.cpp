// The one text for a tensor table: compact JSON, keys sorted, fields without a value left out.
#include "seal/object_writer.h"
#include "seal/tensor_table.h"

namespace vouchfs::seal {
namespace {

void write_tensor(std::string& out, const formats::Tensor& tensor) {
  ObjectWriter object(out);
  object.number("begin", tensor.begin);
  object.text("dtype", tensor.dtype);
  object.number("end", tensor.end);
  object.text("name", tensor.name);
  object.list("shape", tensor.shape, [&](std::uint64_t size) { out += std::to_string(size); });
}

void write_problem(std::string& out, const formats::HeaderProblem& problem) {
  ObjectWriter object(out);
  object.text("detail", problem.detail);
  object.text("name", problem.name);
  object.number("offset", problem.offset);
  object.text("tensor", problem.tensor);
  object.text("text", problem.text);
}

void write_file(std::string& out, const TableFile& file) {
  ObjectWriter object(out);
  object.text("format", file.format);
  object.text("path", file.path);
  if (file.problem) {
    object.key("problem");
    write_problem(out, *file.problem);
  }
  object.list("tensors", file.tensors, [&](const formats::Tensor& tensor) { write_tensor(out, tensor); });
}

void write_correction(std::string& out, const formats::IndexCorrection& correction) {
  ObjectWriter object(out);
  object.text("now", correction.now);
  object.text("tensor", correction.tensor);
  object.text("was", correction.was);
}

void write_index(std::string& out, const formats::IndexRecord& index) {
  ObjectWriter object(out);
  object.map("absent_weights", index.absent_weights);
  object.map("choices", index.choices);
  object.list("corrections", index.corrections, [&](const formats::IndexCorrection& correction) { write_correction(out, correction); });
  object.texts("duplicates", index.duplicates);
  if (index.family != formats::IndexFamily::safetensors) object.text("family", formats::to_string(index.family));
  object.text("folder", index.folder);
  object.texts("members", index.members);
  object.text("metadata", index.metadata);
  object.texts("missing_files", index.missing_files);
  object.text("name", index.file_name);
  object.texts("problems", index.problems);
  if (index.published_total_size) object.number("published_total_size", *index.published_total_size);
  if (!index.unknown_files.empty()) object.texts("unknown_files", index.unknown_files);
  object.text("verdict", formats::to_string(index.verdict));
}

}  // namespace

std::string write_tensor_table(const TensorTable& table) {
  std::string out;
  {
    ObjectWriter object(out);
    object.list("files", table.files, [&](const TableFile& file) { write_file(out, file); });
    if (!table.fixes.empty()) object.list("fixes", table.fixes, [&](const FileFix& fix) { write_fix(out, fix); });
    object.text("format", kTableFormat);
    object.list("indexes", table.indexes, [&](const formats::IndexRecord& index) { write_index(out, index); });
    object.number("version", table.fixes.empty() ? kTableVersion : kTableVersionWithFixes);
  }
  out += '\n';
  return out;
}

}  // namespace vouchfs::seal
