#include "formats/gguf.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "formats/gguf_parts.h"
#include "formats/shown_name.h"

namespace vouchfs::formats {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }
std::string shown(const GgufInfo& info) { return "tensor '" + shown_name(info.tensor.name) + "'"; }

// False when it does not fit 64 bits.
bool pad(std::uint64_t& bytes, std::uint64_t alignment) {
  const std::uint64_t more = (alignment - bytes % alignment) % alignment;
  return !__builtin_add_overflow(bytes, more, &bytes);
}

// Every tensor begins where the padded one before it ends.
MaybeProblem check_offsets(const std::vector<GgufInfo>& infos, std::uint64_t alignment) {
  std::uint64_t expected = 0;
  for (const GgufInfo& info : infos) {
    const Tensor& tensor = info.tensor;
    const auto problem = [&](std::string text, std::string detail) {
      return HeaderProblem{"BadOffset", "tensor '" + shown_name(tensor.name) + "' " + std::move(text), std::move(detail), tensor.name, info.info_offset};
    };
    if (tensor.begin != expected)
      return problem("has offset " + number(tensor.begin) + ", expected " + number(expected),
                     shown(info) + " begins at " + number(tensor.begin) + " of the data, but the tensors before it fill it up to " + number(expected));
    std::uint64_t padded = tensor.bytes();
    if (!pad(padded, alignment) || __builtin_add_overflow(expected, padded, &expected))
      return problem("size overflow, cannot accumulate size " + number(expected), shown(info) + ": the sizes up to it do not fit 64 bits");
  }
  return std::nullopt;
}

MaybeProblem check_bounds(const std::vector<GgufInfo>& infos, std::uint64_t data_offset, std::uint64_t file_bytes) {
  const std::uint64_t there = data_offset < file_bytes ? file_bytes - data_offset : 0;
  const auto is_cut = [&](const GgufInfo& info) { return data_offset > file_bytes || info.tensor.end > there; };
  const auto cut = std::find_if(infos.begin(), infos.end(), is_cut);
  if (cut == infos.end()) return std::nullopt;
  const auto more = std::count_if(cut + 1, infos.end(), is_cut);
  std::uint64_t end = infos.back().tensor.end;
  if (__builtin_add_overflow(end, data_offset, &end)) end = UINT64_MAX;
  HeaderProblem problem{"DataOutOfBounds",
                        "tensor '" + shown_name(cut->tensor.name) + "' data is not within the file bounds, model is corrupted or incomplete",
                        {},
                        cut->tensor.name,
                        file_bytes};
  if (data_offset > file_bytes) problem.text = "failed to seek to beginning of data section";
  problem.detail = "the file has " + number(file_bytes) + " bytes, its tensors end at " + number(end) + ": " + shown(*cut) + " is cut";
  if (more > 0) problem.detail += ", and " + std::to_string(more) + " more after it are cut or missing";
  return problem;
}

void shift(std::uint64_t& offset, std::uint64_t by) {
  if (__builtin_add_overflow(offset, by, &offset)) offset = UINT64_MAX;
}

std::vector<Tensor> placed(std::vector<GgufInfo>&& infos, std::uint64_t data_offset) {
  std::vector<Tensor> tensors;
  tensors.reserve(infos.size());
  for (GgufInfo& info : infos) {
    Tensor& tensor = tensors.emplace_back(std::move(info.tensor));
    if (data_offset == 0) {
      tensor.begin = tensor.end = 0;  // not known
    } else {
      shift(tensor.begin, data_offset);
      shift(tensor.end, data_offset);
    }
  }
  std::sort(tensors.begin(), tensors.end(),
            [](const Tensor& a, const Tensor& b) { return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name); });
  return tensors;
}

std::uint64_t end_of(const std::vector<Tensor>& tensors, std::uint64_t data_offset) {
  std::uint64_t end = data_offset;
  for (const Tensor& tensor : tensors) end = std::max(end, tensor.end);
  return end;
}

// Everything up to the tensor infos; then where the data is, and whether the tensors fill it as they must.
MaybeProblem read_all(std::uint64_t file_bytes, GgufStream& stream, GgufHeader& header, GgufInfos& infos) {
  if (auto problem = read_gguf_prologue(file_bytes, stream, header)) return problem;
  if (auto problem = read_gguf_keys(stream, header)) return problem;
  auto problem = read_gguf_infos(stream, header, infos);
  if (infos.complete) {
    header.data_offset = stream.at();
    pad(header.data_offset, header.alignment);  // cannot overflow: the header has at most kMaxGgufHeader bytes
  }
  if (!problem && header.data_offset > file_bytes) problem = check_bounds(infos.infos, header.data_offset, file_bytes);
  if (!problem) problem = check_offsets(infos.infos, header.alignment);
  if (!problem) problem = check_bounds(infos.infos, header.data_offset, file_bytes);
  return problem;
}

}  // namespace

Result<GgufHeader> read_gguf_header(std::uint64_t file_bytes, const ReadAt& read) {
  GgufHeader header;
  GgufStream stream(file_bytes, read);
  GgufInfos infos;
  header.problem = read_all(file_bytes, stream, header, infos);
  if (stream.error()) return fail(*stream.error());
  std::vector<Tensor>& into = header.problem ? header.claimed : header.tensors;
  into = placed(std::move(infos.infos), header.data_offset);
  if (header.data_offset != 0) header.data_end = end_of(into, header.data_offset);
  return header;
}

}  // namespace vouchfs::formats
