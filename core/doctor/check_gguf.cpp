// GGUF files: the rule their header breaks, how much of a cut file is there, and what follows the last tensor.
#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "doctor/check_gguf_names.h"
#include "doctor/check_parts.h"
#include "doctor/checks.h"

namespace vouchfs::doctor {
namespace {

// The least bytes of one tensor info: an empty name's length, the number of dimensions, type and offset.
constexpr std::uint64_t kLeastInfoBytes = 24;
// The least bytes of one key: its length, one letter, its type and a value of one byte.
constexpr std::uint64_t kLeastKeyBytes = 14;

// Magic, version, the number of tensors and that of keys: what is read before any entry (GGUF specification, gguf_header_t).
constexpr std::uint64_t kCountsEnd = 24;

struct ProblemCode {
  std::string_view problem;
  const char* code;
};
constexpr std::array<ProblemCode, 6> kCodes = {{{"DataOutOfBounds", "gguf.truncated"},
                                                {"UnsupportedVersion", "gguf.version"},
                                                {"ByteOrder", "gguf.byte_order"},
                                                {"BadCount", "gguf.absurd_count"},
                                                {"DuplicateTensor", "gguf.duplicate_tensor"},
                                                {"UnknownType", "gguf.unknown_type"}}};

// What no model comes near: those with the most experts have some ten thousand tensors, and files have fewer than a hundred keys.
constexpr std::uint64_t kPlausibleTensors = 1U << 17;
constexpr std::uint64_t kPlausibleKeys = 1U << 14;

// A reader works through the claimed number of entries and fails at the end of the file; the number is the cause when the file could never hold them
// and no other file either. One that is cut early cannot hold what it should.
bool counts_are_absurd(const formats::GgufHeader& header, std::uint64_t file_bytes) {
  return (header.tensor_count > kPlausibleTensors && header.tensor_count > file_bytes / kLeastInfoBytes) ||
         (header.key_count > kPlausibleKeys && header.key_count > file_bytes / kLeastKeyBytes);
}

const char* code_of(const formats::GgufHeader& header, std::uint64_t file_bytes) {
  const std::string& problem = header.problem->name;
  if (problem == "TruncatedHeader") return counts_are_absurd(header, file_bytes) ? "gguf.absurd_count" : "gguf.header_truncated";
  if (problem == "FileTooSmall") return "gguf.header_truncated";
  const auto* found = std::find_if(kCodes.begin(), kCodes.end(), [&](const ProblemCode& row) { return row.problem == problem; });
  return found == kCodes.end() ? "gguf.header" : found->code;
}

void say_truncated(const ModelFacts& model, const FileFacts& file, Finding finding, Findings& findings) {
  std::uint64_t needed = 0;
  for (const formats::Tensor& tensor : file.gguf->claimed) needed = std::max(needed, tensor.end);
  finding.tensors = tensors_past(file.gguf->claimed, file.bytes);
  finding.offset = file.bytes;
  finding.length = needed - std::min(needed, file.bytes);
  const std::uint64_t whole = file.gguf->claimed.size() - finding.tensors.size();
  finding.message = "truncated: the file ends at byte " + std::to_string(file.bytes) + ", its tensors need " + std::to_string(needed) + ": " +
                    bytes_text(*finding.length) + " missing; " + count_text(finding.tensors.size(), "tensor") + " cut or absent, the other " +
                    std::to_string(whole) + " whole";
  finding.command = fetch_command(model, file.path);
  findings.add(std::move(finding));
}

std::string absurd_text(const formats::GgufHeader& header, std::uint64_t file_bytes) {
  // The number of keys stands behind that of tensors and is not read once that one is refused.
  const std::string keys = header.key_count == 0 ? std::string() : " and " + count_text(header.key_count, "key");
  return "the header claims " + count_text(header.tensor_count, "tensor") + keys + ", far more than a file of " + bytes_text(file_bytes) +
         " can hold; nothing was set aside for them";
}

std::string cut_header_text(const formats::GgufHeader& header, std::uint64_t file_bytes) {
  const std::string ends = "truncated inside the header: the file ends at byte " + std::to_string(file_bytes) + ", before ";
  if (file_bytes < kCountsEnd) return ends + "the numbers of tensors and keys do (byte " + std::to_string(kCountsEnd) + "); no tensor data is there";
  return ends + "the header of " + count_text(header.tensor_count, "tensor") + " does (" + std::to_string(header.claimed.size()) +
         " of their entries could be read); no tensor data is there";
}

void say_problem(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  const formats::HeaderProblem& problem = *file.gguf->problem;
  Finding finding = about(model, file.path, code_of(*file.gguf, file.bytes));
  if (!problem.text.empty()) finding.loader = {problem.text};
  if (finding.code == "gguf.truncated") return say_truncated(model, file, std::move(finding), findings);
  finding.message = problem.detail.empty() ? problem.text : problem.detail;
  finding.offset = problem.offset;
  if (!problem.tensor.empty()) finding.tensors = {problem.tensor};
  if (finding.code == "gguf.absurd_count") finding.message = absurd_text(*file.gguf, file.bytes);
  if (finding.code == "gguf.header_truncated") finding.message = cut_header_text(*file.gguf, file.bytes);
  if (finding.code == "gguf.header_truncated") finding.offset = file.bytes;
  if (finding.code == "gguf.unknown_type") finding.message += "; where the tensors behind it lie was not checked";
  findings.add(std::move(finding));
}

// Readers take both: padding is only wanted between tensors.
void say_end(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  const formats::GgufHeader& header = *file.gguf;
  if (header.tensors.empty() || header.alignment == 0) return;
  const std::uint64_t over = header.data_end % header.alignment;
  const std::uint64_t padded = over == 0 ? header.data_end : header.data_end + (header.alignment - over);
  if (file.bytes == padded || header.data_end > file.bytes) return;
  Finding finding = about(model, file.path, file.bytes > padded ? "gguf.trailing_bytes" : "gguf.missing_padding");
  finding.offset = std::min(file.bytes, padded);
  finding.length = file.bytes > padded ? file.bytes - padded : padded - file.bytes;
  finding.message = file.bytes > padded ? bytes_text(*finding.length) + " behind the last tensor: nothing reads them"
                                        : "the last " + bytes_text(*finding.length) + " of padding behind the last tensor are not there: nothing reads them";
  findings.add(std::move(finding));
}

// The four letters as the file has them, for the text that llama.cpp prints.
void say_old_format(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  const std::string magic = printable(file.head.substr(0, 4));
  Finding finding = about(model, file.path, "gguf.old_format");
  finding.offset = 0;
  finding.length = 4;
  finding.loader = {"gguf_init_from_file_impl: invalid magic characters: '" + magic + "', expected 'GGUF'"};
  finding.message = "begins with '" + magic + "': a format of llama.cpp from before GGUF (August 2023), which no current reader takes";
  findings.add(std::move(finding));
}

}  // namespace

void check_gguf(const ModelFacts& model, Findings& findings) {
  for (const FileFacts& file : model.files) {
    if (file.presence != Presence::readable || findings.has_error(model.shown_path(file.path))) continue;
    if (file.kind.kind == formats::FileKind::ggml_old && file.is_weights) {
      say_old_format(model, file, findings);
      continue;
    }
    if (!file.gguf || raw_part(base_name(file.path))) continue;
    if (file.gguf->problem)
      say_problem(model, file, findings);
    else
      say_end(model, file, findings);
  }
}

}  // namespace vouchfs::doctor
