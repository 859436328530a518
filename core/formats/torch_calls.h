// torch_calls.h: what a call in a torch pickle would make: tensors, storages and dicts as data, everything else an instance. Internal to core/formats.
// Layer:  core/formats (2).
// Source: torch/_utils.py (_rebuild_*), torch/_tensor.py (_rebuild_from_type_v2), torch/serialization.py (persistent ids). Nothing of it is run.
// Errors: arguments that do not fit make an instance; a layout that cannot be is kept in PickleTensor::broken.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/pickle_bytes.h"
#include "formats/pickle_values.h"
#include "formats/torch_names.h"

namespace vouchfs::formats {

class TorchCalls {
 public:
  TorchCalls(const PickleBytes& bytes, PickleHeap& heap) : bytes_(bytes), heap_(heap) {}

  // The object that callee(*args) gives.
  PickleValue call(PickleValue callee, PickleValue args);
  // The object that a persistent id stands for; nullopt when torch would refuse the id.
  std::optional<PickleValue> persistent(const PickleValue& id);
  // Gives `object` its state, as BUILD does.
  void build(PickleValue object, const PickleValue& state);

 private:
  using Args = std::vector<PickleValue>;
  using Make = std::optional<PickleValue> (TorchCalls::*)(const Args&);
  struct Known;
  static const Known* find_known(std::string_view module, std::string_view name) noexcept;

  const PickleObject* object_of(const PickleValue& value, PickleShape shape) const noexcept;
  const Args* tuple_of(const PickleValue& value) const noexcept;
  const PickleGlobal* global_of(const PickleValue& value) const noexcept;
  std::string_view text_of(const PickleValue& value) const noexcept;
  const TorchDtype* dtype_of(const PickleValue& value) const noexcept;
  std::optional<std::vector<std::uint64_t>> sizes_of(const PickleValue& value);
  bool holds_tensor(const PickleValue& value) const noexcept;

  PickleValue add(PickleObject object);
  PickleValue parts(std::vector<std::pair<PickleWord, PickleValue>> named);
  PickleValue instance(const PickleValue& callee, const PickleValue& args);
  PickleValue with_state(const PickleValue& made, const PickleValue& state);
  std::optional<PickleValue> tensor_in(const PickleValue& storage, const Args& layout, const TorchDtype* dtype);
  bool may_copy(std::size_t items);
  bool take_view(const Args& view, PickleStorage& storage) const;
  std::optional<PickleValue> without_bytes(const PickleValue& dtype, const PickleValue& size);

  std::optional<PickleValue> make_tensor(const Args& args);
  std::optional<PickleValue> make_tensor_v3(const Args& args);
  std::optional<PickleValue> make_quantized(const Args& args);
  std::optional<PickleValue> make_sparse(const Args& args);
  std::optional<PickleValue> make_nested(const Args& args);
  std::optional<PickleValue> make_meta(const Args& args);
  std::optional<PickleValue> make_wrapper(const Args& args);
  std::optional<PickleValue> make_first(const Args& args);
  std::optional<PickleValue> make_with_state(const Args& args);
  std::optional<PickleValue> make_dict(const Args& args);
  std::optional<PickleValue> make_list(const Args& args);
  std::optional<PickleValue> make_set(const Args& args);

  const PickleBytes& bytes_;
  PickleHeap& heap_;
};

}  // namespace vouchfs::formats
