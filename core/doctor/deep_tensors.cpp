// What tensor data holds: tensors that are all zero, long runs of zero blocks in others, values that are not finite.
// Source of the sizes: a write that was lost takes pages and extents with it, never a few values; dense weights have no 64 KiB of zeros by chance.
#include <algorithm>

#include "base/units.h"
#include "doctor/check_parts.h"
#include "doctor/deep_watch.h"
#include "doctor/float_kinds.h"
#include "doctor/zero_bytes.h"
#include "doctor/zero_names.h"

namespace vouchfs::doctor {
namespace {

constexpr std::uint64_t kLongRun = 16 * kBlockBytes;
constexpr std::size_t kMaxRuns = 1024;     // kept of one file
constexpr std::size_t kMaxFindings = 256;  // of one kind and file
constexpr std::uint64_t kMostLooks = 4;    // how often one byte may be looked at: tensors of hostile files may all overlap

struct TensorLook {
  const formats::Tensor* tensor = nullptr;
  bool zero = true;
  std::optional<NotFinite> finite;
};

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "0" : std::to_string(static_cast<std::uint64_t>(static_cast<double>(part) * 100.0 / static_cast<double>(whole)));
}

bool in_holes(const FileFacts& file, std::uint64_t begin, std::uint64_t end) {
  return std::any_of(file.holes.begin(), file.holes.end(), [&](const ByteRange& hole) { return hole.offset <= begin && end <= hole.offset + hole.length; });
}

// Whether a hole was said to be a hole already.
bool hole_is_said(const FileFacts& file, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t first = blocks_for(begin) * kBlockBytes;
  const std::uint64_t last = end / kBlockBytes * kBlockBytes;
  return last > first && in_holes(file, first, last);
}

}  // namespace

struct TensorWatch::State {
  const FileFacts& file;
  std::vector<TensorLook> looks;    // by begin
  std::vector<std::size_t> active;  // looks that the read is in
  std::size_t next = 0;
  std::vector<ByteRange> runs;    // of whole zero blocks, kLongRun and longer
  std::optional<ByteRange> open;  // a run that may go on

  void close_run() {
    if (open && open->length >= kLongRun && runs.size() < kMaxRuns) runs.push_back(*open);
    open.reset();
  }
  void find_runs(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += kBlockBytes) {
      const std::size_t length = std::min(kBlockBytes, bytes.size() - at);
      if (!is_zero(bytes.subspan(at, length)))
        close_run();
      else if (open)
        open->length += length;
      else
        open = ByteRange{offset + at, length};
    }
  }
  void look(TensorLook& at, std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    const std::uint64_t from = std::max(at.tensor->begin, offset);
    const std::uint64_t to = std::min(at.tensor->end, offset + bytes.size());
    if (to <= from) return;
    const auto part = bytes.subspan(static_cast<std::size_t>(from - offset), static_cast<std::size_t>(to - from));
    at.zero = at.zero && is_zero(part);
    if (at.finite) at.finite->take(part);
  }
};

TensorWatch::TensorWatch(const FileFacts& file) : state_(std::make_unique<State>(State{file, {}, {}, 0, {}, {}})) {
  const auto* tensors = file.tensors();
  if (tensors == nullptr) return;
  std::uint64_t budget = kMostLooks * file.bytes;
  const bool foreign_order = file.torch && file.torch->big_endian;
  const formats::Tensor* previous = nullptr;
  for (const formats::Tensor& tensor : *tensors) {
    const bool same_bytes = previous != nullptr && previous->begin == tensor.begin && previous->end == tensor.end;  // tied weights
    if (tensor.end <= tensor.begin || tensor.end > file.bytes || tensor.bytes() > budget || same_bytes) continue;
    budget -= tensor.bytes();
    TensorLook look;
    look.tensor = &tensor;
    if (const auto kind = float_kind(tensor.dtype); kind && !foreign_order) look.finite.emplace(*kind);
    state_->looks.push_back(look);
    previous = &tensor;
  }
  std::stable_sort(state_->looks.begin(), state_->looks.end(), [](const TensorLook& a, const TensorLook& b) { return a.tensor->begin < b.tensor->begin; });
}
TensorWatch::~TensorWatch() = default;

void TensorWatch::take(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
  State& state = *state_;
  if (state.looks.empty()) return;
  const std::uint64_t end = offset + bytes.size();
  while (state.next < state.looks.size() && state.looks[state.next].tensor->begin < end) state.active.push_back(state.next++);
  for (const std::size_t i : state.active) state.look(state.looks[i], offset, bytes);
  state.active.erase(std::remove_if(state.active.begin(), state.active.end(), [&](std::size_t i) { return state.looks[i].tensor->end <= end; }),
                     state.active.end());
  state.find_runs(offset, bytes);
}

namespace {

Finding about_tensor(const ModelFacts& model, const FileFacts& file, const formats::Tensor& tensor, const char* code) {
  Finding finding = about(model, file.path, code);
  finding.tensors = {tensor.name};
  finding.offset = tensor.begin;
  finding.length = tensor.bytes();
  return finding;
}

void say_zero(const ModelFacts& model, const FileFacts& file, const formats::Tensor& tensor, std::vector<Finding>& findings) {
  Finding finding = about_tensor(model, file, tensor, "data.zero_tensor");
  finding.message = "every value of the tensor is zero: " + bytes_text(tensor.bytes()) + ", " + count_text(blocks_for(tensor.bytes()), "block") +
                    " of 4096 bytes, " + percent(tensor.bytes(), file.bytes) + "% of the file";
  findings.push_back(std::move(finding));
}

void say_not_finite(const ModelFacts& model, const FileFacts& file, const TensorLook& look, std::vector<Finding>& findings) {
  const NotFinite& seen = *look.finite;
  Finding finding = about_tensor(model, file, *look.tensor, "data.not_finite");
  finding.offset = look.tensor->begin + seen.first();
  finding.length = seen.kind().bytes;
  finding.message = count_text(seen.nans(), "NaN") + " and " + std::to_string(seen.infinities()) + " infinite among " + std::to_string(seen.values()) +
                    " values of the tensor; the first is value " + std::to_string(seen.first() / seen.kind().bytes);
  findings.push_back(std::move(finding));
}

// The part of a run that lies in tensors which are neither all zero nor may be zero there.
void say_run(const ModelFacts& model, const FileFacts& file, const ByteRange& run, const std::vector<TensorLook>& looks, std::vector<Finding>& findings) {
  Finding finding = about(model, file.path, "data.zero_run");
  std::uint64_t begin = UINT64_MAX;
  std::uint64_t end = 0;
  bool rows_only = true;
  for (const TensorLook& look : looks) {
    const std::uint64_t from = std::max(look.tensor->begin, run.offset);
    const std::uint64_t to = std::min(look.tensor->end, run.offset + run.length);
    if (to <= from || to - from < kLongRun || look.zero || may_be_zero(*look.tensor)) continue;
    begin = std::min(begin, from);
    end = std::max(end, to);
    rows_only = rows_only && may_have_zero_rows(*look.tensor);
    finding.tensors.push_back(look.tensor->name);
  }
  if (finding.tensors.empty() || hole_is_said(file, begin, end)) return;
  finding.offset = begin;
  finding.length = end - begin;
  finding.message = bytes_text(end - begin) + " of zeros in one piece (" + std::to_string((end - begin) / kBlockBytes) + " blocks), " +
                    percent(end - begin, file.bytes) + "% of the file";
  if (rows_only) {
    finding.severity = Severity::note;
    finding.message += "; in embeddings and output heads these are often rows of words that do not exist";
  }
  findings.push_back(std::move(finding));
}

}  // namespace

void TensorWatch::finish(const ModelFacts& model, std::vector<Finding>& findings) {
  State& state = *state_;
  state.close_run();
  std::size_t zero = 0;
  std::size_t last_zero = 0;
  std::size_t not_finite = 0;
  for (const TensorLook& look : state.looks) {
    const formats::Tensor& tensor = *look.tensor;
    if (look.zero && !may_be_zero(tensor) && !hole_is_said(state.file, tensor.begin, tensor.end) && ++zero <= kMaxFindings) {
      last_zero = findings.size();
      say_zero(model, state.file, tensor, findings);
    }
    if (look.finite && look.finite->nans() + look.finite->infinities() != 0 && ++not_finite <= kMaxFindings) say_not_finite(model, state.file, look, findings);
  }
  if (zero > kMaxFindings) findings[last_zero].message += "; " + count_text(zero - kMaxFindings, "more tensor") + " of the file all zero";
  for (const ByteRange& run : state.runs) say_run(model, state.file, run, state.looks, findings);
}

}  // namespace vouchfs::doctor
