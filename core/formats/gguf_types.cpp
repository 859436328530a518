// The tensor types of ggml (ggml.h, enum ggml_type, and the type traits of ggml.c) and the names of split files.
#include <algorithm>
#include <array>
#include <charconv>

#include "formats/gguf.h"

namespace vouchfs::formats {
namespace {

// By id. Ids that are not here were removed, or are a fork's own.
constexpr std::array<GgufType, 35> kTypes = {{
    {0, "F32", 1, 4},       {1, "F16", 1, 2},        {2, "Q4_0", 32, 18},      {3, "Q4_1", 32, 20},      {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},
    {8, "Q8_0", 32, 34},    {9, "Q8_1", 32, 36},     {10, "Q2_K", 256, 84},    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210}, {15, "Q8_K", 256, 292},  {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},  {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18}, {21, "IQ3_S", 256, 110}, {22, "IQ2_S", 256, 82},   {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},      {27, "I64", 1, 8},       {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},   {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},
    {35, "TQ2_0", 256, 66}, {39, "MXFP4", 32, 17},   {40, "NVFP4", 64, 36},    {41, "Q1_0", 128, 18},    {42, "Q2_0", 64, 18},
}};

constexpr std::string_view kEnding = ".gguf";
constexpr std::string_view kOf = "-of-";
constexpr std::size_t kLeastDigits = 5;

bool is_number(std::string_view text) {
  return text.size() >= kLeastDigits && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string padded(std::uint64_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
}

}  // namespace

std::span<const GgufType> gguf_types() noexcept { return kTypes; }

const GgufType* find_gguf_type(std::uint32_t id) noexcept {
  const auto at = std::lower_bound(kTypes.begin(), kTypes.end(), id, [](const GgufType& type, std::uint32_t wanted) { return type.id < wanted; });
  return at != kTypes.end() && at->id == id ? &*at : nullptr;
}

std::optional<std::string> gguf_part_name(std::string_view file_name, std::uint64_t number) {
  if (!file_name.ends_with(kEnding)) return std::nullopt;
  const std::string_view stem = file_name.substr(0, file_name.size() - kEnding.size());
  const auto of = stem.rfind(kOf);
  if (of == std::string_view::npos) return std::nullopt;
  const std::string_view before = stem.substr(0, of);
  const std::string_view count_text = stem.substr(of + kOf.size());
  const auto dash = before.rfind('-');
  if (dash == std::string_view::npos || !is_number(before.substr(dash + 1)) || !is_number(count_text)) return std::nullopt;
  std::uint64_t count = 0;
  if (std::from_chars(count_text.data(), count_text.data() + count_text.size(), count).ec != std::errc()) return std::nullopt;
  if (number == 0 || number > count) return std::nullopt;
  const std::size_t digits = before.size() - dash - 1;
  return std::string(before.substr(0, dash + 1)) + padded(number, digits) + std::string(kOf) + std::string(count_text) + std::string(kEnding);
}

}  // namespace vouchfs::formats
