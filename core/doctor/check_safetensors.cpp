// Safetensors files against the rules of their format: which is broken, which bytes and tensors that concerns, and what it tells of the cause.
#include <algorithm>
#include <iterator>
#include <map>

#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "formats/shown_name.h"

namespace vouchfs::doctor {
namespace {

using formats::HeaderProblem;
using formats::SafetensorsHeader;
using formats::Tensor;

constexpr std::uint64_t kLengthBytes = 8;

struct Subject {
  const ModelFacts& model;
  const FileFacts& file;
  const SafetensorsHeader& header;
  const HeaderProblem& problem;
};

Finding say(const Subject& subject, const char* code, std::string message) {
  Finding finding = about(subject.model, subject.file.path, code);
  finding.offset = subject.problem.offset;
  finding.message = std::move(message);
  finding.command = fetch_command(subject.model, subject.file.path);
  if (!subject.problem.tensor.empty()) finding.tensors = {subject.problem.tensor};
  // What the newest library prints, in its exact words; the older form is the bare name. What its parsers say behind "invalid JSON in header: " and
  // "invalid UTF-8 in header: " is not what ours say.
  const bool parsed = subject.problem.name == "InvalidHeader" || subject.problem.name == "InvalidHeaderDeserialization";
  const std::string text = parsed ? subject.problem.text.substr(0, subject.problem.text.find(": ")) + ": …" : subject.problem.text;
  finding.loader = {"Error while deserializing header: " + text, "Error while deserializing header: " + subject.problem.name};
  return finding;
}

std::uint64_t length_field(const FileFacts& file) {
  std::uint64_t value = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(i < file.head.size() ? file.head[i] : '\0');
  return value;
}

bool opens_like_json(const FileFacts& file) {
  const auto first = file.head.find_first_not_of(" \t\r\n", kLengthBytes);
  return first != std::string::npos && file.head[first] == '{';
}

// "all 3 tensors are missing", "tensors b and c are cut or missing, the other 4 are whole".
std::string loss_text(const Subject& subject, const std::vector<std::string>& lost) {
  const std::size_t all = subject.header.claimed.size();
  std::string text = lost.size() == all ? (all == 1 ? "its only tensor is hit: " : "all " + count_text(all, "tensor") + " are hit: ")
                                        : count_text(lost.size(), "tensor") + (lost.size() == 1 ? " is hit: " : " are hit: ");
  text += list_text(lost, 4);
  return lost.size() == all ? text : text + "; the other " + std::to_string(all - lost.size()) + (all - lost.size() == 1 ? " is whole" : " are whole");
}

std::string past_text(const Subject& subject) {
  const auto& tensors = subject.header.claimed;
  const auto last = std::max_element(tensors.begin(), tensors.end(), [](const Tensor& a, const Tensor& b) { return a.end < b.end; });
  return "tensor '" + formats::shown_name(last->name) + "' ends " + bytes_text(last->end - subject.file.bytes) + " past the file";
}

std::uint64_t needed_bytes(const SafetensorsHeader& header) {
  std::uint64_t end = header.data_offset;
  for (const Tensor& tensor : header.claimed) end = std::max(end, tensor.end);
  return end;
}

Finding truncated(const Subject& subject) {
  const std::uint64_t missing = needed_bytes(subject.header) - subject.file.bytes;
  const std::vector<std::string> lost = tensors_past(subject.header.claimed, subject.file.bytes);
  const bool no_data = subject.file.bytes <= subject.header.data_offset;
  Finding finding = say(subject, "safetensors.truncated",
                        "the file ends at byte " + std::to_string(subject.file.bytes) + ", " + bytes_text(missing) + " missing of " +
                            bytes_text(needed_bytes(subject.header)) + (no_data ? ": the header is whole, the data behind it is not there" : "") + "; " +
                            past_text(subject) + "; " + loss_text(subject, lost));
  finding.offset = subject.file.bytes;
  finding.length = missing;
  finding.tensors = lost;
  return finding;
}

// What the extra bytes are: zeros of a preallocated file, a second copy of the head, or neither.
std::string extra_text(const Subject& subject, std::uint64_t end) {
  const auto read = open_reader(subject.file);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(std::min<std::uint64_t>(subject.file.bytes - end, formats::kKindBytes)));
  const auto got = read ? (*read)(end, bytes) : Result<std::size_t>(0);
  if (!got || *got == 0) return {};
  bytes.resize(*got);
  if (std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; })) return "; they begin with zeros";
  const std::size_t common = std::min(bytes.size(), subject.file.head.size());
  const bool copy = common >= kLengthBytes && std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(common), subject.file.head.begin(),
                                                         [](std::uint8_t a, char b) { return a == static_cast<unsigned char>(b); });
  return copy ? "; they are a copy of the head of the file: two downloads were joined" : std::string();
}

Finding trailing(const Subject& subject) {
  const std::uint64_t end = needed_bytes(subject.header);
  const std::uint64_t extra = subject.file.bytes - end;
  Finding finding = say(subject, "safetensors.trailing_bytes",
                        bytes_text(extra) + " follow the last tensor; the file should end at byte " + std::to_string(end) + extra_text(subject, end));
  finding.offset = end;
  finding.length = extra;
  return finding;
}

Finding bad_length(const Subject& subject) {
  const std::uint64_t length = length_field(subject.file);
  const std::uint64_t there = subject.file.bytes - kLengthBytes;
  const std::string says = "the length field says the header has " + bytes_text(length);
  if (length > formats::kMaxSafetensorsHeader && length <= there && opens_like_json(subject.file)) {
    Finding finding = say(subject, "safetensors.header_too_large",
                          says + ", and it does: more than the " + std::to_string(formats::kMaxSafetensorsHeader) + " that readers take");
    finding.length = length + kLengthBytes;
    return finding;
  }
  if (length <= formats::kMaxSafetensorsHeader && (there == 0 || opens_like_json(subject.file))) {
    Finding finding = say(subject, "safetensors.header_truncated",
                          "the file ends inside its header: " + says + ", the file has " + bytes_text(there) + " of it; " + bytes_text(length - there) +
                              " of the header and all data are missing");
    finding.offset = subject.file.bytes;
    finding.length = length - there;
    return finding;
  }
  Finding finding = say(subject, "safetensors.length_impossible",
                        says + ", the file has only " + bytes_text(there) + " behind it" +
                            (opens_like_json(subject.file) ? "; a header does open behind it: the length field is damaged"
                                                           : "; the field is damaged, or this is no safetensors file"));
  finding.offset = 0;
  finding.length = kLengthBytes;
  return finding;
}

// Every tensor that shares bytes with another, in order of place. `claimed` is sorted by (begin, end).
std::vector<std::string> overlapping(const std::vector<Tensor>& tensors) {
  std::vector<std::string> names;
  const Tensor* widest = nullptr;
  for (const Tensor& tensor : tensors) {
    if (tensor.end <= tensor.begin) continue;
    if (widest != nullptr && tensor.begin < widest->end) {
      if (names.empty() || names.back() != widest->name) names.push_back(widest->name);
      names.push_back(tensor.name);
    }
    if (widest == nullptr || tensor.end > widest->end) widest = &tensor;
  }
  return names;
}

Finding bad_offset(const Subject& subject) {
  const auto& tensors = subject.header.claimed;
  const auto at = std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& tensor) { return tensor.name == subject.problem.tensor; });
  const std::uint64_t expected = at == tensors.begin() || at == tensors.end() ? subject.header.data_offset : std::prev(at)->end;
  if (at == tensors.end()) return say(subject, "safetensors.bad_range", subject.problem.detail);
  if (at->end < at->begin) {
    Finding finding = say(subject, "safetensors.bad_range", subject.problem.detail);
    finding.offset = at->begin;
    return finding;
  }
  if (at->begin > expected) {
    Finding finding = say(subject, "safetensors.gap", subject.problem.detail + ": " + bytes_text(at->begin - expected) + " between them belong to no tensor");
    finding.offset = expected;
    finding.length = at->begin - expected;
    return finding;
  }
  Finding finding = say(subject, "safetensors.overlap", subject.problem.detail);
  finding.offset = at->begin;
  finding.length = std::min(expected, at->end) - at->begin;
  if (std::vector<std::string> names = overlapping(tensors); !names.empty()) finding.tensors = std::move(names);
  return finding;
}

Finding duplicate(const Subject& subject) {
  const std::string& name = subject.header.repeated_name;
  Finding finding = say(subject, "safetensors.duplicate_name",
                        "the header names tensor '" + formats::shown_name(name) + "' twice; readers keep the last, and then: " + subject.problem.detail);
  finding.tensors = {name};
  return finding;
}

Finding unknown_dtype(const Subject& subject) {
  std::map<std::string, std::size_t> dtypes;
  std::vector<std::string> names;
  for (const Tensor& tensor : subject.header.claimed) {
    if (formats::safetensors_dtype_bits(tensor.dtype)) continue;
    ++dtypes[tensor.dtype];
    names.push_back(tensor.name);
  }
  std::string list;
  for (const auto& [dtype, count] : dtypes) list += (list.empty() ? "" : ", ") + formats::shown_name(dtype) + " of " + count_text(count, "tensor");
  Finding finding =
      say(subject, "safetensors.unknown_dtype",
          "no version of safetensors knows the dtype " + (list.empty() ? subject.problem.detail : list) + ": the size of such a tensor cannot be checked");
  if (!names.empty()) finding.tensors = std::move(names);
  finding.loader.back() = "Error while deserializing header: InvalidHeaderDeserialization";
  return finding;
}

Finding bad_json(const Subject& subject) {
  const char* code = subject.header.metadata_broken ? "safetensors.metadata_not_text" : "safetensors.header_json";
  const std::string where = " (at byte " + std::to_string(subject.problem.offset) + " of the file)";
  Finding finding = say(subject, code, subject.problem.detail + where);
  finding.length = 1;
  return finding;
}

Finding finding_of(const Subject& subject) {
  const std::string& name = subject.problem.name;
  if (name == "HeaderTooLarge" || name == "InvalidHeaderLength") return bad_length(subject);
  if (name == "UnknownDtype") return unknown_dtype(subject);
  if (name == "InvalidHeaderDeserialization") return bad_json(subject);
  if (name == "InvalidHeader") {
    Finding finding =
        say(subject, "safetensors.header_not_utf8", subject.problem.detail + "; that is byte " + std::to_string(subject.problem.offset) + " of the file");
    finding.length = 1;
    return finding;
  }
  if (!subject.header.repeated_name.empty()) return duplicate(subject);
  if (name == "MetadataIncompleteBuffer") return needed_bytes(subject.header) > subject.file.bytes ? truncated(subject) : trailing(subject);
  if (name == "ValidationOverflow") return say(subject, "safetensors.shape_overflow", subject.problem.detail);
  if (name == "MisalignedSlice") return say(subject, "safetensors.partial_byte", subject.problem.detail);
  if (name == "TensorInvalidInfo") return say(subject, "safetensors.size_mismatch", subject.problem.detail);
  return bad_offset(subject);
}

void say_repeated(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  Finding finding = about(model, file.path, "safetensors.duplicate_name");
  finding.severity = Severity::warning;
  finding.tensors = {file.safetensors->repeated_name};
  finding.message = "the header names tensor '" + formats::shown_name(file.safetensors->repeated_name) + "' twice; readers keep the last, and the file fits it";
  findings.add(std::move(finding));
}

}  // namespace

void check_safetensors(const ModelFacts& model, Findings& findings) {
  for (const FileFacts& file : model.files) {
    if (!file.safetensors || findings.has_error(model.shown_path(file.path))) continue;
    const SafetensorsHeader& header = *file.safetensors;
    if (header.problem) {
      findings.add(finding_of({model, file, header, *header.problem}));
    } else if (!header.repeated_name.empty()) {
      say_repeated(model, file, findings);
    }
  }
}

}  // namespace vouchfs::doctor
