// Tensor data that takes no space on disk: it was never written, and reads as zeros. Known without a read, from SEEK_HOLE.
#include <algorithm>

#include "base/units.h"
#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "doctor/zero_names.h"

namespace vouchfs::doctor {
namespace {

// Tensors that a hole cuts and that should hold something.
std::vector<std::string> hit(const FileFacts& file, const ByteRange& hole, std::uint64_t& bytes) {
  std::vector<std::string> names;
  for (const formats::Tensor& tensor : *file.tensors()) {
    const std::uint64_t from = std::max(tensor.begin, hole.offset);
    const std::uint64_t to = std::min(tensor.end, hole.offset + hole.length);
    if (to <= from || to - from < kBlockBytes || may_be_zero(tensor)) continue;
    names.push_back(tensor.name);
    bytes += to - from;
  }
  return names;
}

void say(const ModelFacts& model, const FileFacts& file, const ByteRange& hole, Findings& findings) {
  std::uint64_t bytes = 0;
  std::vector<std::string> tensors = hit(file, hole, bytes);
  if (tensors.empty()) return;
  Finding finding = about(model, file.path, "data.hole");
  finding.offset = hole.offset;
  finding.length = hole.length;
  finding.message = "a hole of " + bytes_text(hole.length) + " that was never written and reads as zeros; " + std::to_string(bytes) +
                    " bytes of it belong to " + count_text(tensors.size(), "tensor");
  finding.tensors = std::move(tensors);
  findings.add(std::move(finding));
}

}  // namespace

void check_holes(const ModelFacts& model, Findings& findings) {
  constexpr std::size_t kTold = 64;
  for (const FileFacts& file : model.files) {
    if (file.holes.empty() || file.tensors() == nullptr || findings.has_error(model.shown_path(file.path))) continue;
    for (std::size_t i = 0; i < std::min(kTold, file.holes.size()); ++i) say(model, file, file.holes[i], findings);
  }
}

}  // namespace vouchfs::doctor
