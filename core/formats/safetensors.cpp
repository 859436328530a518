#include "formats/safetensors.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/utf8.h"
#include "formats/safetensors_json.h"
#include "formats/shown_name.h"

namespace vouchfs::formats {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr const char* kOverflow = "ValidationOverflow";
constexpr const char* kMisaligned = "MisalignedSlice";

std::string number(std::uint64_t value) { return std::to_string(value); }

std::uint64_t little_endian(const std::array<std::uint8_t, kLengthBytes>& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

// Rules 1 to 3: the length field. Sets `length`, or returns the problem.
std::optional<HeaderProblem> check_length(std::uint64_t file_bytes, const std::array<std::uint8_t, kLengthBytes>& head, std::uint64_t& length) {
  if (file_bytes < kLengthBytes)
    return HeaderProblem{"HeaderTooSmall", "header too small", "the file has " + number(file_bytes) + " bytes; the length of the header alone takes 8", {}, 0};
  length = little_endian(head);
  if (length > kMaxSafetensorsHeader) {
    const std::string start(reinterpret_cast<const char*>(head.data()), head.size());
    return HeaderProblem{"HeaderTooLarge",
                         "header too large",
                         "the first 8 bytes (\"" + printable(start) + "\") say the header has " + number(length) + " bytes, more than " +
                             number(kMaxSafetensorsHeader) + ": most likely this is no safetensors file",
                         {},
                         0};
  }
  if (length > file_bytes - kLengthBytes)
    return HeaderProblem{
        "InvalidHeaderLength",
        "invalid header length",
        "the header should have " + number(length) + " bytes, the file has only " + number(file_bytes - kLengthBytes) + " after the length field",
        {},
        0};
  return std::nullopt;
}

// Bytes a tensor must have, or the name of the rule (7, 8) that it breaks.
struct TensorSize {
  std::uint64_t bytes = 0;
  std::string_view broken;
};
TensorSize size_of(const Tensor& tensor) {
  std::uint64_t bits = 1;
  for (const std::uint64_t n : tensor.shape)
    if (__builtin_mul_overflow(bits, n, &bits)) return {0, kOverflow};
  if (__builtin_mul_overflow(bits, std::uint64_t{safetensors_dtype_bits(tensor.dtype).value_or(8)}, &bits)) return {0, kOverflow};
  if (bits % 8 != 0) return {0, kMisaligned};
  return {bits / 8, {}};
}

std::string shape_text(const Tensor& tensor) {
  constexpr std::size_t kShown = 16;
  std::string text = tensor.dtype + " [";
  for (std::size_t i = 0; i < tensor.shape.size() && i < kShown; ++i) text += (i == 0 ? "" : ", ") + number(tensor.shape[i]);
  return text + (tensor.shape.size() > kShown ? ", ...]" : "]");
}

std::string range_text(const Tensor& tensor) { return "[" + number(tensor.begin) + ", " + number(tensor.end) + ")"; }

// Why rule 6 does not hold for a tensor that should begin at `expected`.
std::string offset_detail(const Tensor& tensor, const Tensor* before, std::uint64_t expected) {
  std::string text = "tensor '" + shown_name(tensor.name) + "' has data_offsets " + range_text(tensor);
  if (tensor.begin == expected) return text + ": it ends before it begins";
  if (before == nullptr) return text + ": the first tensor must begin at 0";
  text += tensor.begin < expected ? ": it overlaps" : ": there is a hole behind";
  return text + " tensor '" + shown_name(before->name) + "', which ends at " + number(expected);
}

// Rules 6 to 9 for one tensor.
std::optional<HeaderProblem> check_tensor(const Tensor& tensor, const Tensor* before, std::uint64_t expected) {
  const auto problem = [&](const char* name, std::string text, std::string detail) {
    return HeaderProblem{name, std::move(text), std::move(detail), tensor.name, 0};
  };
  if (tensor.begin != expected || tensor.end < tensor.begin)
    return problem("InvalidOffset", "invalid offset for tensor `" + shown_name(tensor.name) + "`", offset_detail(tensor, before, expected));
  const TensorSize size = size_of(tensor);
  const std::string is = "tensor '" + shown_name(tensor.name) + "' is " + shape_text(tensor);
  if (size.broken == kOverflow)
    return problem(kOverflow, "overflow computing buffer size from shape and/or element type", is + ": its size does not fit 64 bits");
  if (size.broken == kMisaligned)
    return problem(kMisaligned, "The slice is slicing for subbytes dtypes, and the slice does not end up at a byte boundary, this is invalid.",
                   is + ": its bits do not fill whole bytes");
  if (size.bytes != tensor.bytes())
    return problem("TensorInvalidInfo", "invalid shape, data type, or offset for tensor",
                   is + " and needs " + number(size.bytes) + " bytes, but its data_offsets " + range_text(tensor) + " give it " + number(tensor.bytes()));
  return std::nullopt;
}

// Rule 10: the tensors fill the file to its last byte.
std::optional<HeaderProblem> check_end(const std::vector<HeaderEntry>& entries, std::uint64_t data_offset, std::uint64_t file_bytes) {
  const std::uint64_t there = file_bytes - data_offset;
  const std::uint64_t needed = entries.empty() ? 0 : entries.back().tensor.end;
  if (needed == there) return std::nullopt;
  HeaderProblem problem{"MetadataIncompleteBuffer", "incomplete metadata, file not fully covered", {}, {}, 0};
  if (needed < there) {
    problem.offset = data_offset + needed;
    problem.detail = number(there - needed) + " bytes follow the last tensor; the file should have " + number(problem.offset) + " bytes";
    return problem;
  }
  const auto cut = std::find_if(entries.begin(), entries.end(), [&](const HeaderEntry& entry) { return entry.tensor.end > there; });
  problem.offset = file_bytes;
  problem.tensor = cut->tensor.name;
  problem.detail = "the file is " + number(needed - there) + " bytes short: tensor '" + shown_name(cut->tensor.name) + "' is cut";
  if (const auto more = entries.end() - cut - 1; more > 0) problem.detail += ", and " + std::to_string(more) + " more after it are cut or missing";
  return problem;
}

void sort_by_place(std::vector<HeaderEntry>& entries) {
  std::sort(entries.begin(), entries.end(), [](const HeaderEntry& a, const HeaderEntry& b) {
    return std::tie(a.tensor.begin, a.tensor.end, a.tensor.name) < std::tie(b.tensor.begin, b.tensor.end, b.tensor.name);
  });
}

// Rules 6 to 10, over sorted entries; offsets of problems are from the start of the file.
std::optional<HeaderProblem> check_layout(const HeaderJson& json, std::uint64_t data_offset, std::uint64_t file_bytes) {
  std::uint64_t expected = 0;
  const Tensor* before = nullptr;
  for (const HeaderEntry& entry : json.entries) {
    auto problem = check_tensor(entry.tensor, before, expected);
    if (problem) {
      problem->offset = kLengthBytes + entry.json_offset;
      if (!json.repeated_name.empty()) problem->detail += "; the header names '" + shown_name(json.repeated_name) + "' twice, and readers keep the last";
      return problem;
    }
    before = &entry.tensor;
    expected = entry.tensor.end;
  }
  return check_end(json.entries, data_offset, file_bytes);
}

Status read_exactly(const ReadAt& read, std::uint64_t offset, std::span<std::uint8_t> dst) {
  VOUCHFS_ASSIGN(const std::size_t got, read(offset, dst));
  if (got == dst.size()) return {};
  Error error = make_error(ErrorCode::truncated, "the file ended while its header was read");
  error.where.offset = offset + got;
  return fail(std::move(error));
}

// Rules 4 and 5 over the text of the header.
HeaderJson parse_text(std::string_view text) {
  const std::size_t bad = find_invalid_utf8(text);
  if (bad == std::string_view::npos) return parse_safetensors_json(text);
  HeaderJson json;
  json.problem = HeaderProblem{"InvalidHeader",
                               "invalid UTF-8 in header: invalid utf-8 sequence from index " + number(bad),
                               "byte " + number(bad) + " of the header (\"" + printable(text.substr(bad, 1)) + "\") is no UTF-8: the header is damaged",
                               {},
                               bad};
  return json;
}

// Offsets from the start of the file; absurd ones stop at the largest number there is.
std::vector<Tensor> placed(std::vector<HeaderEntry>&& entries, std::uint64_t data_offset) {
  const auto shift = [&](std::uint64_t& offset) {
    if (__builtin_add_overflow(offset, data_offset, &offset)) offset = UINT64_MAX;
  };
  std::vector<Tensor> tensors;
  tensors.reserve(entries.size());
  for (HeaderEntry& entry : entries) {
    tensors.push_back(std::move(entry.tensor));
    shift(tensors.back().begin);
    shift(tensors.back().end);
  }
  return tensors;
}

}  // namespace

Result<SafetensorsHeader> read_safetensors_header(std::uint64_t file_bytes, const ReadAt& read) {
  SafetensorsHeader header;
  std::array<std::uint8_t, kLengthBytes> head{};
  if (file_bytes >= kLengthBytes) VOUCHFS_TRY(read_exactly(read, 0, head));
  std::uint64_t length = 0;
  header.problem = check_length(file_bytes, head, length);
  if (header.problem) return header;

  header.data_offset = kLengthBytes + length;
  HeaderJson json;
  {
    std::string text(static_cast<std::size_t>(length), '\0');
    VOUCHFS_TRY(read_exactly(read, kLengthBytes, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
    json = parse_text(text);
  }
  sort_by_place(json.entries);
  header.problem = std::move(json.problem);
  header.repeated_name = json.repeated_name;
  header.has_metadata = json.has_metadata;
  header.metadata_broken = json.metadata_broken;
  header.format = std::move(json.format);
  if (header.problem) {
    header.problem->offset += kLengthBytes;
  } else {
    header.problem = check_layout(json, header.data_offset, file_bytes);
  }
  (header.problem ? header.claimed : header.tensors) = placed(std::move(json.entries), header.data_offset);
  return header;
}

}  // namespace vouchfs::formats
