// pickle_values.h: what the symbolic machine knows about the objects of a pickle. Internal to core/formats.
// Layer: core/formats (2). Plain values; everything is an index into PickleHeap, so nothing is recursive and nothing is freed one by one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/torch_file.h"

namespace vouchfs::formats {

enum class PickleKind : std::uint8_t {
  none,
  boolean,      // number is 0 or 1
  integer,      // number
  big_integer,  // does not fit 64 bits: its bytes as a place
  real,
  text,    // a place in the pickle: number is the position, index the length
  bytes,   // the same
  word,    // index into kPartNames: the name of a part that the pickle itself does not name
  global,  // index into globals
  storage,
  tensor,
  object,
};

struct PickleValue {
  PickleKind kind = PickleKind::none;
  std::uint32_t index = 0;
  std::int64_t number = 0;
  bool is(PickleKind wanted) const noexcept { return kind == wanted; }
};

// Names of the tensors inside a sparse, quantized or wrapped tensor. The first is the tensor itself: it adds nothing to the name.
inline constexpr std::string_view kPartNames[] = {"",       "indices", "values",  "crow_indices",   "ccol_indices", "col_indices", "row_indices", "zero_points",
                                                  "scales", "sizes",   "strides", "storage_offsets"};
enum class PickleWord : std::uint32_t {
  self,
  indices,
  values,
  crow_indices,
  ccol_indices,
  col_indices,
  row_indices,
  zero_points,
  scales,
  sizes,
  strides,
  offsets
};

enum class PickleShape : std::uint8_t {
  tuple,
  list,
  set,
  dict,      // items are key, value, key, value …
  instance,  // of a class the machine does not know: made from args, with a state
};

struct PickleObject {
  PickleShape shape = PickleShape::tuple;
  std::uint32_t callee = UINT32_MAX;  // instance: index into globals, or UINT32_MAX
  PickleValue args;
  PickleValue state;
  std::vector<PickleValue> items;
};

inline PickleObject pickle_object(PickleShape shape, std::vector<PickleValue> items = {}) { return {shape, UINT32_MAX, {}, {}, std::move(items)}; }

struct PickleStorage {
  PickleValue key;
  std::string_view dtype;        // "float32"; "uint8" for an untyped storage
  std::uint64_t element = 1;     // bytes
  std::uint64_t bytes = 0;       // of the whole storage
  std::uint64_t view_begin = 0;  // legacy views: the part of the storage that this one is
  std::uint64_t view_bytes = 0;  // equal to bytes without a view
};

struct PickleTensor {
  std::string_view dtype;
  std::vector<std::uint64_t> shape;
  std::uint32_t storage = UINT32_MAX;  // UINT32_MAX: a tensor without bytes (meta, wrapper)
  std::uint64_t begin = 0;             // from the start of the storage
  std::uint64_t bytes = 0;             // from its first to its last element
  std::string broken;                  // why its layout cannot be; empty when it can
};

struct PickleHeap {
  std::vector<PickleObject> objects;
  std::vector<PickleStorage> storages;
  std::vector<PickleTensor> tensors;
  std::vector<PickleGlobal> globals;  // each once
  std::size_t storage_parts = 5;      // of the tuple that names a storage, as torch takes it apart: no fewer and no more
  std::uint64_t copied_items = 0;     // from one list or dict to another
  bool too_large = false;             // more were to be copied than any real file does
};

}  // namespace vouchfs::formats
