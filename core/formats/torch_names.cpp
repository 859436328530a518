#include "formats/torch_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace vouchfs::formats {
namespace {

constexpr TorchDtype kDtypes[] = {{"float64", "Double", 8},
                                  {"float32", "Float", 4},
                                  {"float16", "Half", 2},
                                  {"bfloat16", "BFloat16", 2},
                                  {"int64", "Long", 8},
                                  {"int32", "Int", 4},
                                  {"int16", "Short", 2},
                                  {"int8", "Char", 1},
                                  {"uint8", "Byte", 1},
                                  {"bool", "Bool", 1},
                                  {"complex128", "ComplexDouble", 16},
                                  {"complex64", "ComplexFloat", 8},
                                  {"qint8", "QInt8", 1},
                                  {"qint32", "QInt32", 4},
                                  {"quint8", "QUInt8", 1},
                                  {"quint4x2", "QUInt4x2", 1, 2},
                                  {"quint2x4", "QUInt2x4", 1, 4},
                                  {"complex32", "", 4},
                                  {"bcomplex32", "", 4},
                                  {"uint16", "", 2},
                                  {"uint32", "", 4},
                                  {"uint64", "", 8},
                                  {"float8_e4m3fn", "", 1},
                                  {"float8_e4m3fnuz", "", 1},
                                  {"float8_e5m2", "", 1},
                                  {"float8_e5m2fnuz", "", 1},
                                  {"float8_e8m0fnu", "", 1},
                                  {"float4_e2m1fn_x2", "", 1},
                                  {"bits8", "", 1},
                                  {"bits16", "", 2},
                                  {"bits1x8", "", 1},
                                  {"bits2x4", "", 1},
                                  {"bits4x2", "", 1},
                                  {"int1", "", 1},
                                  {"int2", "", 1},
                                  {"int3", "", 1},
                                  {"int4", "", 1},
                                  {"int5", "", 1},
                                  {"int6", "", 1},
                                  {"int7", "", 1},
                                  {"uint1", "", 1},
                                  {"uint2", "", 1},
                                  {"uint3", "", 1},
                                  {"uint4", "", 1},
                                  {"uint5", "", 1},
                                  {"uint6", "", 1},
                                  {"uint7", "", 1}};

struct Global {
  std::string_view module;
  std::string_view name;
  bool operator==(const Global&) const = default;
};

// What is no dtype, tensor class or storage class.
constexpr Global kAllowed[] = {{"collections", "OrderedDict"},
                               {"collections", "Counter"},
                               {"torch.nn.parameter", "Parameter"},
                               {"torch.serialization", "_get_layout"},
                               {"torch", "Size"},
                               {"torch", "Tensor"},
                               {"torch", "device"},
                               {"_codecs", "encode"},
                               {"builtins", "bytearray"},
                               {"builtins", "set"},
                               {"builtins", "complex"},
                               {"torch", "per_tensor_affine"},
                               {"torch", "per_tensor_symmetric"},
                               {"torch", "per_channel_affine"},
                               {"torch", "per_channel_symmetric"},
                               {"torch", "per_channel_affine_float_qparams"},
                               {"torch.storage", "TypedStorage"},
                               {"torch.storage", "UntypedStorage"},
                               {"torch._utils", "_rebuild_parameter"},
                               {"torch._utils", "_rebuild_parameter_with_state"},
                               {"torch._utils", "_rebuild_qtensor"},
                               {"torch._utils", "_rebuild_tensor"},
                               {"torch._utils", "_rebuild_tensor_v2"},
                               {"torch._utils", "_rebuild_tensor_v3"},
                               {"torch._utils", "_rebuild_sparse_tensor"},
                               {"torch._utils", "_rebuild_meta_tensor_no_storage"},
                               {"torch._utils", "_rebuild_wrapper_subclass"},
                               {"torch._utils", "_rebuild_device_tensor_from_numpy"},
                               {"torch._utils", "_rebuild_device_tensor_from_cpu_tensor"},
                               {"torch._tensor", "_rebuild_from_type_v2"}};

// FloatTensor and others, by the same prefix as the storages; those of the sparse modules lack Bool.
constexpr std::string_view kTensorClasses[] = {"Double", "Float", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool"};

bool ends_with_word(std::string_view name, std::string_view word, std::string_view& front) {
  if (!name.ends_with(word)) return false;
  front = name.substr(0, name.size() - word.size());
  return true;
}

bool is_tensor_class(std::string_view module, std::string_view name) {
  std::string_view front;
  if (!ends_with_word(name, "Tensor", front)) return false;
  const bool sparse = module == "torch.sparse" || module == "torch.cuda.sparse";
  if (!sparse && module != "torch" && module != "torch.cuda") return false;
  if (sparse && front == "Bool") return false;
  return std::find(std::begin(kTensorClasses), std::end(kTensorClasses), front) != std::end(kTensorClasses);
}

bool is_storage_class(std::string_view module, std::string_view name) {
  std::string_view front;
  if ((module != "torch" && module != "torch.cuda") || !ends_with_word(name, "Storage", front) || front.empty()) return false;
  const auto known = std::find_if(std::begin(kDtypes), std::end(kDtypes), [&](const TorchDtype& dtype) { return dtype.storage == front; });
  return known != std::end(kDtypes) && (module == "torch" || !front.starts_with("Q"));
}

struct Renamed {
  Global old;
  Global now;
};
// torch._utils.NAME_MAPPING and IMPORT_MAPPING.
constexpr Renamed kRenamed[] = {{{"__builtin__", "xrange"}, {"builtins", "range"}},
                                {{"__builtin__", "reduce"}, {"functools", "reduce"}},
                                {{"__builtin__", "intern"}, {"sys", "intern"}},
                                {{"__builtin__", "unichr"}, {"builtins", "chr"}},
                                {{"__builtin__", "unicode"}, {"builtins", "str"}},
                                {{"__builtin__", "long"}, {"builtins", "int"}},
                                {{"__builtin__", "basestring"}, {"builtins", "str"}},
                                {{"itertools", "izip"}, {"builtins", "zip"}},
                                {{"itertools", "imap"}, {"builtins", "map"}},
                                {{"itertools", "ifilter"}, {"builtins", "filter"}},
                                {{"exceptions", "StandardError"}, {"builtins", "Exception"}},
                                {{"itertools", "izip_longest"}, {"itertools", "zip_longest"}},
                                {{"itertools", "ifilterfalse"}, {"itertools", "filterfalse"}},
                                {{"UserDict", "IterableUserDict"}, {"collections", "UserDict"}}};
constexpr Global kRenamedModules[] = {{"__builtin__", "builtins"},
                                      {"copy_reg", "copyreg"},
                                      {"Queue", "queue"},
                                      {"repr", "reprlib"},
                                      {"_abcoll", "collections.abc"},
                                      {"UserDict", "collections"},
                                      {"UserList", "collections"},
                                      {"UserString", "collections"},
                                      {"whichdb", "dbm"},
                                      {"StringIO", "io"},
                                      {"cStringIO", "io"}};

}  // namespace

const TorchDtype* find_torch_dtype(std::string_view name) noexcept {
  for (const TorchDtype& dtype : kDtypes)
    if (dtype.name == name) return &dtype;
  return nullptr;
}

const TorchDtype* dtype_of_storage_class(std::string_view class_name) noexcept {
  std::string_view front;
  if (!ends_with_word(class_name, "Storage", front)) return nullptr;
  if (front == "Untyped" || front == "_Untyped") return find_torch_dtype("uint8");
  for (const TorchDtype& dtype : kDtypes)
    if (!dtype.storage.empty() && dtype.storage == front) return &dtype;
  return nullptr;
}

bool is_torch_location(std::string_view location) noexcept {
  constexpr std::string_view kBackends[] = {"cuda", "mps",    "xpu", "hpu",  "mtia", "privateuseone", "hip", "xla", "npu", "mlu",  "musa",
                                            "ipu",  "vulkan", "ve",  "fpga", "maia", "lazy",          "dml", "gcu", "tpu", "sdaa", "openreg"};
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_letter = [&](char c) { return (c >= 'a' && c <= 'z') || c == '_' || is_digit(c); };
  if (location == "cpu" || location == "meta") return true;
  const std::size_t colon = location.find(':');
  std::string_view backend = location.substr(0, colon);
  if (colon != std::string_view::npos) {
    const std::string_view index = location.substr(colon + 1);
    if (index.empty() || !std::all_of(index.begin(), index.end(), is_digit) || backend == "cpu" || backend == "meta") return false;
    return !backend.empty() && !is_digit(backend.front()) && std::all_of(backend.begin(), backend.end(), is_letter);
  }
  while (!backend.empty() && is_digit(backend.back())) backend.remove_suffix(1);  // "cuda0"
  return std::find(std::begin(kBackends), std::end(kBackends), backend) != std::end(kBackends);
}

void modernize_global(std::string& module, std::string& name) {
  for (const Renamed& renamed : kRenamed)
    if (renamed.old == Global{module, name}) {
      module = renamed.now.module;
      name = renamed.now.name;
      return;
    }
  for (const Global& renamed : kRenamedModules)
    if (renamed.module == module) {
      module = renamed.name;
      return;
    }
}

bool is_allowed_global(std::string_view module, std::string_view name) {
  if (std::find(std::begin(kAllowed), std::end(kAllowed), Global{module, name}) != std::end(kAllowed)) return true;
  return (module == "torch" && find_torch_dtype(name) != nullptr) || is_tensor_class(module, name) || is_storage_class(module, name);
}

}  // namespace vouchfs::formats
