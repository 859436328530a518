// The element types of the format.
#include <array>
#include <string>

#include "formats/safetensors.h"
#include "formats/safetensors_json.h"

namespace vouchfs::formats {
namespace {

struct DtypeBits {
  std::string_view name;
  unsigned bits;
};
// safetensors 0.8 (Dtype::bitsize), in the order of its enum.
constexpr std::array<DtypeBits, 22> kDtypes = {{{"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
                                                {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
                                                {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
                                                {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}}};

}  // namespace

std::optional<unsigned> safetensors_dtype_bits(std::string_view dtype) {
  for (const DtypeBits& known : kDtypes)
    if (known.name == dtype) return known.bits;
  return std::nullopt;
}

std::string known_safetensors_dtypes() {
  std::string text;
  for (const DtypeBits& known : kDtypes) text += (text.empty() ? "`" : ", `") + std::string(known.name) + "`";
  return text;
}

}  // namespace vouchfs::formats
