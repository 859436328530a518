// torch_names.h: what torch calls its element types, storages and the globals it takes from a stranger. Internal to core/formats.
// Layer:  core/formats (2). Pure functions.
// Source: torch 2.15: torch.storage._dtype_to_storage_type_map, _new_dtypes, and the allowed globals of torch/_weights_only_unpickler.py.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vouchfs::formats {

struct TorchDtype {
  std::string_view name;                // "float32"
  std::string_view storage;             // "Float" of FloatStorage; empty for the types that untyped storages hold
  std::uint64_t bytes = 0;              // of an element, or of the byte that holds several
  std::uint64_t elements_per_byte = 1;  // more for the quantized types below a byte
};

const TorchDtype* find_torch_dtype(std::string_view name) noexcept;
// "FloatStorage" → float32; UntypedStorage and its older names → uint8.
const TorchDtype* dtype_of_storage_class(std::string_view class_name) noexcept;

// A device that a storage was saved from, as some torch calls it: one without a number is one of the known backends, one with a number may be of any
// backend that an extension registers ("npu:0"). Source: torch/serialization.py (default_restore_location), c10/core/DeviceType.h.
bool is_torch_location(std::string_view location) noexcept;

// A module of Python 2, and the few names, as Python 3 calls them: torch translates them before it looks them up.
void modernize_global(std::string& module, std::string& name);
// On the list that torch.load(weights_only=True) holds a global against; takes modern names.
bool is_allowed_global(std::string_view module, std::string_view name);

}  // namespace vouchfs::formats
