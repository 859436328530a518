// Which tensors a byte range cuts, also where tensors share bytes.
#include <algorithm>

#include "formats/weight_file.h"
#include "seal/tensor_table.h"

namespace vouchfs::seal {
namespace {

using formats::Tensor;

// The first tensor that may end behind `offset`: no tensor before it does. Without `reach` that is the first of all.
std::vector<Tensor>::const_iterator first_behind(const TableFile& file, std::uint64_t offset) {
  const auto& tensors = file.tensors;
  if (!may_overlap(file.format))  // then ends are in order like begins
    return std::lower_bound(tensors.begin(), tensors.end(), offset, [](const Tensor& tensor, std::uint64_t at) { return tensor.end <= at; });
  return tensors.begin() + (std::upper_bound(file.reach.begin(), file.reach.end(), offset) - file.reach.begin());
}

}  // namespace

bool may_overlap(std::string_view format) noexcept { return format == formats::to_string(formats::WeightFormat::torch); }

void index_overlaps(TableFile& file) {
  file.reach.clear();
  if (!may_overlap(file.format)) return;
  file.reach.reserve(file.tensors.size());
  std::uint64_t reach = 0;
  for (const Tensor& tensor : file.tensors) file.reach.push_back(reach = std::max(reach, tensor.end));
}

std::vector<std::string> tensors_in(const TableFile& file, std::uint64_t offset, std::uint64_t length) {
  if (length == 0) return {};
  const std::uint64_t end = length > UINT64_MAX - offset ? UINT64_MAX : offset + length;
  std::vector<std::string> names;
  for (auto tensor = first_behind(file, offset); tensor != file.tensors.end() && tensor->begin < end; ++tensor)
    if (tensor->end > offset && tensor->bytes() > 0) names.push_back(tensor->name);
  return names;
}

}  // namespace vouchfs::seal
