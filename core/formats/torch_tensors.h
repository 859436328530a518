// torch_tensors.h: from what the machine knows to named tensors with their place in the file. Internal to core/formats.
// Layer:  core/formats (2).
// Cost:   every container is entered as often as a name leads to it, within the limits below; nothing recurses.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/pickle_bytes.h"
#include "formats/pickle_values.h"
#include "formats/torch_file.h"

namespace vouchfs::formats {

struct NamedTensor {
  std::string name;
  std::uint32_t tensor = 0;  // index into PickleHeap::tensors
};

struct NamedTensors {
  std::vector<NamedTensor> list;  // as the containers are written; a name that comes twice is that of its last tensor
  std::string too_large;          // why the walk stopped; empty when it came to its end
};
// Names: keys of dicts, indexes of lists, joined with '.'. A tensor saved alone is "tensor". Modules saved whole are named as their state dict.
NamedTensors name_tensors(const PickleHeap& heap, const PickleBytes& bytes, const PickleValue& root);

// Where a storage lies.
struct StoragePlace {
  bool known = false;                    // begin is meaningful
  std::uint64_t begin = 0;               // from the start of the file
  std::uint64_t bytes = 0;               // that are there for it
  std::optional<HeaderProblem> problem;  // why it cannot be read
};
using FindStorage = std::function<StoragePlace(std::string_view key)>;

// Fills claimed and faults of `file`, each problem of a storage once, with the tensors that need it.
void place_tensors(TorchFile& file, const PickleHeap& heap, const PickleBytes& bytes, const std::vector<NamedTensor>& named, const FindStorage& find);

// Sorts, and makes `claimed` the tensors when there is no fault; else sets problem.
void settle(TorchFile& file);

}  // namespace vouchfs::formats
