// The one text for a tensor table: compact JSON, keys sorted, fields without a value left out.
#include "formats/json_reader.h"
#include "seal/tensor_table.h"

namespace vouchfs::seal {
namespace {

using formats::append_json_string;

// Writes the fields of one object, with commas between them. Call in the order of the keys.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;
  ~ObjectWriter() { out_ += '}'; }

  void key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    append_json_string(out_, name);
    out_ += ':';
  }
  void text(std::string_view name, std::string_view value) {
    key(name);
    append_json_string(out_, value);
  }
  void number(std::string_view name, std::uint64_t value) {
    key(name);
    out_ += std::to_string(value);
  }
  template <class Items, class Write>
  void list(std::string_view name, const Items& items, Write write) {
    key(name);
    out_ += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ',';
      first = false;
      write(item);
    }
    out_ += ']';
  }
  void texts(std::string_view name, const std::vector<std::string>& items) {
    list(name, items, [this](const std::string& item) { append_json_string(out_, item); });
  }
  void map(std::string_view name, const std::map<std::string, std::string>& items) {
    key(name);
    ObjectWriter object(out_);
    for (const auto& [item, value] : items) object.text(item, value);
  }

 private:
  std::string& out_;
  bool first_ = true;
};

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
    object.text("format", kTableFormat);
    object.list("indexes", table.indexes, [&](const formats::IndexRecord& index) { write_index(out, index); });
    object.number("version", kTableVersion);
  }
  out += '\n';
  return out;
}

}  // namespace vouchfs::seal
