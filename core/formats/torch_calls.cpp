#include "formats/torch_calls.h"

#include <algorithm>
#include <utility>

#include "formats/torch_layout.h"
#include "formats/torch_names.h"

namespace vouchfs::formats {
namespace {

// PyTorch itself works with at most 64.
constexpr std::size_t kMaxDimensions = 1024;
// Items copied out of lists and dicts into new ones, all together.
constexpr std::uint64_t kMaxCopiedItems = 8U << 20;
// No known function takes more. A longer tuple can be handed over again and again, so it must not be copied each time either.
constexpr std::size_t kMaxArguments = 16;
// Sizes of so many dimensions cost no more than the tensor itself; those of more count as copied items.
constexpr std::size_t kUsualDimensions = 8;
// Keys are short numbers. Each storage of a pickle compares its own, and thousands may share a long one.
constexpr std::uint32_t kMaxStorageKey = 256;

}  // namespace

struct TorchCalls::Known {
  std::string_view module;
  std::string_view name;
  Make make;
};

const TorchCalls::Known* TorchCalls::find_known(std::string_view module, std::string_view name) noexcept {
  using C = TorchCalls;
  static constexpr Known kKnown[] = {{"torch._utils", "_rebuild_tensor", &C::make_tensor},
                                     {"torch._utils", "_rebuild_tensor_v2", &C::make_tensor},
                                     {"torch._utils", "_rebuild_tensor_v3", &C::make_tensor_v3},
                                     {"torch._utils", "_rebuild_qtensor", &C::make_quantized},
                                     {"torch._utils", "_rebuild_sparse_tensor", &C::make_sparse},
                                     {"torch._utils", "_rebuild_nested_tensor", &C::make_nested},
                                     {"torch._utils", "_rebuild_meta_tensor_no_storage", &C::make_meta},
                                     {"torch._utils", "_rebuild_wrapper_subclass", &C::make_wrapper},
                                     {"torch._utils", "_rebuild_device_tensor_from_cpu_tensor", &C::make_first},
                                     {"torch._utils", "_rebuild_parameter", &C::make_first},
                                     {"torch._utils", "_rebuild_parameter_with_state", &C::make_with_state},
                                     {"torch.nn.parameter", "Parameter", &C::make_first},
                                     {"torch.nn.parameter", "Buffer", &C::make_first},
                                     {"collections", "OrderedDict", &C::make_dict},
                                     {"collections", "Counter", &C::make_dict},
                                     {"collections", "defaultdict", &C::make_dict},
                                     {"builtins", "dict", &C::make_dict},
                                     {"builtins", "list", &C::make_list},
                                     {"builtins", "set", &C::make_set}};
  for (const Known& known : kKnown)
    if (known.module == module && known.name == name) return &known;
  return nullptr;
}

// --- reading values

const PickleObject* TorchCalls::object_of(const PickleValue& value, PickleShape shape) const noexcept {
  if (!value.is(PickleKind::object)) return nullptr;
  const PickleObject& object = heap_.objects[value.index];
  return object.shape == shape ? &object : nullptr;
}

const TorchCalls::Args* TorchCalls::tuple_of(const PickleValue& value) const noexcept {
  const PickleObject* object = object_of(value, PickleShape::tuple);
  return object == nullptr ? nullptr : &object->items;
}

const PickleGlobal* TorchCalls::global_of(const PickleValue& value) const noexcept {
  return value.is(PickleKind::global) ? &heap_.globals[value.index] : nullptr;
}

std::string_view TorchCalls::text_of(const PickleValue& value) const noexcept {
  if (!value.is(PickleKind::text) && !value.is(PickleKind::bytes)) return {};
  return bytes_.at(static_cast<std::uint64_t>(value.number), value.index);
}

const TorchDtype* TorchCalls::dtype_of(const PickleValue& value) const noexcept {
  const PickleGlobal* global = global_of(value);
  return global != nullptr && global->module == "torch" ? find_torch_dtype(global->name) : nullptr;
}

// A tuple, torch.Size or list of numbers that are not negative.
std::optional<std::vector<std::uint64_t>> TorchCalls::sizes_of(const PickleValue& value) {
  if (!value.is(PickleKind::object)) return std::nullopt;
  const PickleObject* object = &heap_.objects[value.index];
  if (object->shape == PickleShape::instance) {  // torch.Size((2, 3))
    const Args* args = tuple_of(object->args);
    if (args == nullptr || args->size() != 1 || !args->front().is(PickleKind::object)) return std::nullopt;
    object = &heap_.objects[args->front().index];
  }
  if (object->shape != PickleShape::tuple && object->shape != PickleShape::list) return std::nullopt;
  if (object->items.size() > kMaxDimensions) return std::nullopt;
  if (object->items.size() > kUsualDimensions && !may_copy(object->items.size())) return std::nullopt;
  std::vector<std::uint64_t> sizes;
  for (const PickleValue& item : object->items) {
    if (!item.is(PickleKind::integer) || item.number < 0) return std::nullopt;
    sizes.push_back(static_cast<std::uint64_t>(item.number));
  }
  return sizes;
}

bool TorchCalls::holds_tensor(const PickleValue& value) const noexcept { return value.is(PickleKind::tensor) || value.is(PickleKind::object); }

// --- making values

PickleValue TorchCalls::add(PickleObject object) {
  heap_.objects.push_back(std::move(object));
  return {PickleKind::object, static_cast<std::uint32_t>(heap_.objects.size() - 1), 0};
}

PickleValue TorchCalls::parts(std::vector<std::pair<PickleWord, PickleValue>> named) {
  PickleObject object = pickle_object(PickleShape::dict);
  for (const auto& [word, value] : named) {
    object.items.push_back({PickleKind::word, static_cast<std::uint32_t>(word), 0});
    object.items.push_back(value);
  }
  return add(std::move(object));
}

PickleValue TorchCalls::instance(const PickleValue& callee, const PickleValue& args) {
  return add({PickleShape::instance, callee.is(PickleKind::global) ? callee.index : UINT32_MAX, args, {}, {}});
}

PickleValue TorchCalls::with_state(const PickleValue& made, const PickleValue& state) {
  if (!holds_tensor(state)) return made;
  return parts({{PickleWord::self, made}, {PickleWord::self, state}});
}

std::optional<PickleValue> TorchCalls::tensor_in(const PickleValue& storage, const Args& layout, const TorchDtype* dtype) {
  if (!storage.is(PickleKind::storage)) return std::nullopt;
  PickleTensor tensor;
  auto size = layout.size() > 3 ? sizes_of(layout[2]) : std::nullopt;
  auto stride = layout.size() > 3 ? sizes_of(layout[3]) : std::nullopt;
  if (dtype == nullptr)
    tensor.broken = "its element type is not known here";
  else if (!size || !stride || !layout[1].is(PickleKind::integer) || layout[1].number < 0)
    tensor.broken = "its offset, sizes or strides are no numbers from 0 on";
  else
    tensor = lay_out({static_cast<std::uint64_t>(layout[1].number), *std::move(size), *std::move(stride)}, *dtype, heap_.storages[storage.index]);
  tensor.storage = storage.index;
  heap_.tensors.push_back(std::move(tensor));
  return PickleValue{PickleKind::tensor, static_cast<std::uint32_t>(heap_.tensors.size() - 1), 0};
}

std::optional<PickleValue> TorchCalls::without_bytes(const PickleValue& dtype, const PickleValue& size) {
  const TorchDtype* known = dtype_of(dtype);
  auto sizes = sizes_of(size);
  if (known == nullptr || !sizes) return std::nullopt;
  heap_.tensors.push_back({known->name, *std::move(sizes), UINT32_MAX, 0, 0, {}});
  return PickleValue{PickleKind::tensor, static_cast<std::uint32_t>(heap_.tensors.size() - 1), 0};
}

// (storage, offset, size, stride, …)
std::optional<PickleValue> TorchCalls::make_tensor(const Args& args) {
  if (args.size() < 4 || !args[0].is(PickleKind::storage)) return std::nullopt;
  return tensor_in(args[0], args, find_torch_dtype(heap_.storages[args[0].index].dtype));
}

// (untyped storage, offset, size, stride, requires_grad, hooks, dtype, …)
std::optional<PickleValue> TorchCalls::make_tensor_v3(const Args& args) {
  if (args.size() < 7) return std::nullopt;
  return tensor_in(args[0], args, dtype_of(args[6]));
}

// (storage, offset, size, stride, (scheme, scales, zero points, axis), …): by channel, scales and zero points are tensors of their own.
std::optional<PickleValue> TorchCalls::make_quantized(const Args& args) {
  const auto tensor = make_tensor(args);
  const Args* params = args.size() < 5 ? nullptr : tuple_of(args[4]);
  if (!tensor || params == nullptr || params->size() < 3) return tensor;
  const PickleValue scales = (*params)[1];
  const PickleValue zero_points = (*params)[2];
  if (!scales.is(PickleKind::tensor) && !zero_points.is(PickleKind::tensor)) return tensor;
  return parts({{PickleWord::self, *tensor}, {PickleWord::scales, scales}, {PickleWord::zero_points, zero_points}});
}

// (layout, (indices, values, size, …)) or (layout, (compressed indices, plain indices, values, size))
std::optional<PickleValue> TorchCalls::make_sparse(const Args& args) {
  const Args* data = args.size() != 2 ? nullptr : tuple_of(args[1]);
  if (data == nullptr || data->size() < 3 || data->size() > kMaxArguments) return std::nullopt;
  std::string_view layout;
  if (const PickleObject* call = object_of(args[0], PickleShape::instance))  // torch.serialization._get_layout("torch.sparse_csr")
    if (const Args* name = tuple_of(call->args); name != nullptr && name->size() == 1) layout = text_of(name->front());
  const Args items = *data;
  if (layout == "torch.sparse_csr" || layout == "torch.sparse_bsr")
    return parts({{PickleWord::crow_indices, items[0]}, {PickleWord::col_indices, items[1]}, {PickleWord::values, items[2]}});
  if (layout == "torch.sparse_csc" || layout == "torch.sparse_bsc")
    return parts({{PickleWord::ccol_indices, items[0]}, {PickleWord::row_indices, items[1]}, {PickleWord::values, items[2]}});
  return parts({{PickleWord::indices, items[0]}, {PickleWord::values, items[1]}});
}

// (values, sizes, strides, storage offsets)
std::optional<PickleValue> TorchCalls::make_nested(const Args& args) {
  if (args.size() != 4) return std::nullopt;
  return parts({{PickleWord::values, args[0]}, {PickleWord::sizes, args[1]}, {PickleWord::strides, args[2]}, {PickleWord::offsets, args[3]}});
}

// (dtype, size, …)
std::optional<PickleValue> TorchCalls::make_meta(const Args& args) {
  if (args.size() < 2) return std::nullopt;
  return without_bytes(args[0], args[1]);
}

// (class, dtype, size, …)
std::optional<PickleValue> TorchCalls::make_wrapper(const Args& args) {
  if (args.size() < 3) return std::nullopt;
  return without_bytes(args[1], args[2]);
}

std::optional<PickleValue> TorchCalls::make_first(const Args& args) {
  if (args.empty() || !holds_tensor(args[0])) return std::nullopt;
  return args[0];
}

// (data, requires_grad, hooks, state)
std::optional<PickleValue> TorchCalls::make_with_state(const Args& args) {
  if (args.size() != 4) return std::nullopt;
  return with_state(args[0], args[3]);
}

bool TorchCalls::may_copy(std::size_t items) {
  heap_.copied_items += items;
  heap_.too_large = heap_.too_large || heap_.copied_items > kMaxCopiedItems;
  return !heap_.too_large;
}

// Empty, from another dict, or (Python 2) from a list of pairs.
std::optional<PickleValue> TorchCalls::make_dict(const Args& args) {
  PickleObject dict = pickle_object(PickleShape::dict);
  if (args.empty() || !args.back().is(PickleKind::object)) return add(std::move(dict));
  const PickleObject& from = heap_.objects[args.back().index];
  if (!may_copy(from.items.size())) return std::nullopt;
  if (from.shape == PickleShape::dict) dict.items = from.items;
  if (from.shape == PickleShape::list)
    for (const PickleValue& pair : from.items) {
      if (!pair.is(PickleKind::object)) return std::nullopt;
      const Args& key_and_value = heap_.objects[pair.index].items;
      if (key_and_value.size() != 2) return std::nullopt;
      dict.items.insert(dict.items.end(), key_and_value.begin(), key_and_value.end());
    }
  return add(std::move(dict));
}

std::optional<PickleValue> TorchCalls::make_list(const Args& args) {
  PickleObject list = pickle_object(PickleShape::list);
  if (args.empty() || !args[0].is(PickleKind::object)) return add(std::move(list));
  const PickleObject& from = heap_.objects[args[0].index];
  if (!may_copy(from.items.size())) return std::nullopt;
  list.items = from.items;
  return add(std::move(list));
}

std::optional<PickleValue> TorchCalls::make_set(const Args& args) {
  auto set = make_list(args);
  if (set) heap_.objects[set->index].shape = PickleShape::set;
  return set;
}

// --- the calls

PickleValue TorchCalls::call(PickleValue callee, PickleValue args) {
  // _rebuild_from_type_v2(function, type, args, state) calls the function; a file may nest that, but not without end.
  constexpr int kMaxNested = 8;
  std::vector<PickleValue> states;
  for (int i = 0; i < kMaxNested; ++i) {
    const PickleGlobal* global = global_of(callee);
    const Args* list = tuple_of(args);
    if (global == nullptr || list == nullptr || !global->name.starts_with("_rebuild_from_type")) break;
    if (list->size() < 3 || list->size() > kMaxArguments) break;
    const Args outer = *list;
    callee = outer[0];
    args = outer[2];
    if (outer.size() > 3) states.push_back(outer[3]);
  }
  std::optional<PickleValue> made;
  const PickleGlobal* global = global_of(callee);
  const Args* list = tuple_of(args);
  if (global != nullptr && list != nullptr && list->size() <= kMaxArguments)
    if (const Known* known = find_known(global->module, global->name)) made = (this->*known->make)(Args(*list));
  PickleValue value = made ? *made : instance(callee, args);
  for (auto state = states.rbegin(); state != states.rend(); ++state) value = with_state(value, *state);
  return value;
}

std::optional<PickleValue> TorchCalls::persistent(const PickleValue& id) {
  const Args* parts = tuple_of(id);
  if (parts == nullptr || parts->empty()) return std::nullopt;
  const std::string_view kind = text_of(parts->front());
  if (kind == "module" && parts->size() > 1) return (*parts)[1];  // legacy: a class with its source text
  if (kind != "storage" || parts->size() != heap_.storage_parts || !is_torch_location(text_of((*parts)[3]))) return std::nullopt;
  const PickleGlobal* type = global_of((*parts)[1]);
  const TorchDtype* dtype = type == nullptr ? nullptr : dtype_of_storage_class(type->name);
  const PickleValue count = (*parts)[4];
  PickleStorage storage{(*parts)[2], {}, 1, 0, 0, 0};
  if (dtype == nullptr || !count.is(PickleKind::integer) || count.number < 0) return std::nullopt;
  if (!storage.key.is(PickleKind::text) && !storage.key.is(PickleKind::bytes)) return std::nullopt;
  if (storage.key.index > kMaxStorageKey) return std::nullopt;
  storage.dtype = dtype->name;
  storage.element = dtype->bytes;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(count.number), dtype->bytes, &storage.bytes)) return std::nullopt;
  storage.view_bytes = storage.bytes;
  if (parts->size() > 5 && !(*parts)[5].is(PickleKind::none))
    if (const Args* view = tuple_of((*parts)[5]); view == nullptr || !take_view(*view, storage)) return std::nullopt;
  heap_.storages.push_back(storage);
  return PickleValue{PickleKind::storage, static_cast<std::uint32_t>(heap_.storages.size() - 1), 0};
}

// (key of the view, offset, elements)
bool TorchCalls::take_view(const Args& view, PickleStorage& storage) const {
  if (view.size() != 3 || !view[1].is(PickleKind::integer) || !view[2].is(PickleKind::integer) || view[1].number < 0 || view[2].number < 0) return false;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(view[1].number), storage.element, &storage.view_begin)) return false;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(view[2].number), storage.element, &storage.view_bytes)) return false;
  return storage.view_begin <= storage.bytes && storage.view_bytes <= storage.bytes - storage.view_begin;
}

void TorchCalls::build(PickleValue object, const PickleValue& state) {
  if (!object.is(PickleKind::object)) return;  // attributes of a tensor: hooks and the like
  const PickleObject& made = heap_.objects[object.index];
  const Args* args = tuple_of(state);
  // Before _rebuild_tensor: an empty tensor gets (storage, offset, size, stride) as its state.
  if (made.shape == PickleShape::instance && args != nullptr && args->size() >= 4 && args->size() <= kMaxArguments)
    if (const auto tensor = make_tensor(Args(*args))) {
      heap_.objects[object.index] = pickle_object(PickleShape::dict, {{PickleKind::word, 0, 0}, *tensor});
      return;
    }
  heap_.objects[object.index].state = state;
}

}  // namespace vouchfs::formats
