// Names of shards and index files. What is a variant and what belongs to a name follows transformers and diffusers (see shard_groups.h).
#include <charconv>
#include <climits>

#include "formats/shard_groups.h"
#include "formats/shard_index.h"

namespace vouchfs::formats {
namespace {

constexpr std::string_view kIndex = ".index";
constexpr std::string_view kJson = ".json";
constexpr std::string_view kOf = "-of-";
constexpr std::size_t kMaxDigits = 18;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::uint64_t to_number(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// A plain part between dots: "fp16", "non_ema".
bool is_variant(std::string_view text) { return !text.empty() && text.find_first_of("./") == std::string_view::npos; }

// Takes `end` off the end of text when it is there and something stays before it.
bool strip(std::string_view& text, std::string_view end) {
  if (text.size() <= end.size() || !text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

// Takes the ending of a family off the end.
std::optional<IndexFamily> strip_family(std::string_view& text) {
  for (const IndexFamily family : kIndexFamilies)
    if (strip(text, shard_ending(family))) return family;
  return std::nullopt;
}

// Takes ".VARIANT" off the end.
std::string strip_variant(std::string_view& text) {
  const auto dot = text.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || !is_variant(text.substr(dot + 1))) return {};
  std::string variant(text.substr(dot + 1));
  text.remove_suffix(text.size() - dot);
  return variant;
}

}  // namespace

const char* to_string(IndexFamily family) noexcept {
  switch (family) {
    case IndexFamily::safetensors:
      return "safetensors";
    case IndexFamily::torch:
      return "torch";
    case IndexFamily::tf:
      return "tf";
    case IndexFamily::flax:
      return "flax";
  }
  return "safetensors";
}

std::optional<IndexFamily> index_family_from(std::string_view word) noexcept {
  for (const IndexFamily family : kIndexFamilies)
    if (word == to_string(family)) return family;
  return std::nullopt;
}

std::string_view shard_ending(IndexFamily family) noexcept {
  switch (family) {
    case IndexFamily::safetensors:
      return ".safetensors";
    case IndexFamily::torch:
      return ".bin";
    case IndexFamily::tf:
      return ".h5";
    case IndexFamily::flax:
      return ".msgpack";
  }
  return ".safetensors";
}

std::optional<IndexFamily> shard_family_of(std::string_view file_name) noexcept {
  for (const IndexFamily family : kIndexFamilies)
    if (file_name.ends_with(shard_ending(family))) return family;
  return std::nullopt;
}

std::optional<IndexFamily> index_family_of(std::string_view index_name) {
  const auto name = parse_index_name(index_name);
  return name && !name->stem.empty() ? std::optional(name->family) : std::nullopt;
}

std::optional<IndexName> parse_index_name(std::string_view file_name) {
  std::string_view rest = file_name;
  if (!strip(rest, kJson)) return std::nullopt;
  IndexName name;
  if (!strip(rest, kIndex)) {
    name.variant = strip_variant(rest);
    if (name.variant.empty() || !strip(rest, kIndex)) return std::nullopt;
    if (const auto family = strip_family(rest)) {
      name.family = *family;
      name.stem = std::string(rest);
    }
    return name;
  }
  if (const auto family = strip_family(rest)) {
    name.family = *family;
    name.stem = std::string(rest);
    return name;
  }
  std::string_view before = rest;  // the old form: STEM.safetensors.VARIANT.index.json
  name.variant = strip_variant(before);
  const auto family = name.variant.empty() ? std::nullopt : strip_family(before);
  if (family) {
    name.family = *family;
    name.stem = std::string(before);
    name.old_form = true;
  } else {
    name.variant.clear();
  }
  return name;
}

std::string write_index_name(const IndexName& name) {
  const std::string start = name.stem + std::string(shard_ending(name.family));
  if (name.variant.empty()) return start + ".index.json";
  return name.old_form ? start + "." + name.variant + ".index.json" : start + ".index." + name.variant + ".json";
}

bool is_safetensors_index_name(std::string_view file_name) { return index_family_of(file_name) == IndexFamily::safetensors; }

bool is_index_name(std::string_view file_name) { return parse_index_name(file_name).has_value(); }

std::optional<ShardName> parse_shard_name(std::string_view file_name) {
  // The last "-of-" with digits on both sides counts: a stem may hold another.
  for (std::size_t of = file_name.rfind(kOf); of != std::string_view::npos && of > 0; of = file_name.rfind(kOf, of - 1)) {
    std::size_t start = of;
    while (start > 0 && is_digit(file_name[start - 1])) --start;
    std::size_t end = of + kOf.size();
    while (end < file_name.size() && is_digit(file_name[end])) ++end;
    const std::string_view number = file_name.substr(start, of - start);
    const std::string_view count = file_name.substr(of + kOf.size(), end - of - kOf.size());
    const bool ends_well = end == file_name.size() || file_name[end] == '.';
    if (number.empty() || count.empty() || number.size() > kMaxDigits || count.size() > kMaxDigits || !ends_well) continue;
    ShardName name{{}, to_number(number), to_number(count), std::string(file_name.substr(0, start)), number.size(), std::string(file_name.substr(of))};
    name.stem = name.before_number;
    if (!name.stem.empty() && std::string_view("-_.").find(name.stem.back()) != std::string_view::npos) name.stem.pop_back();
    return name;
  }
  return std::nullopt;
}

bool is_plain_relative_path(std::string_view path) {
  if (path.empty() || path.size() >= PATH_MAX || path.find('\0') != std::string_view::npos) return false;
  while (true) {
    const auto slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.size() > NAME_MAX) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

const char* to_string(IndexVerdict verdict) noexcept {
  switch (verdict) {
    case IndexVerdict::right:
      return "right";
    case IndexVerdict::wrong:
      return "wrong";
    case IndexVerdict::absent:
      return "absent";
  }
  return "absent";
}

bool IndexRecord::shown() const noexcept {
  return verdict != IndexVerdict::absent || (has_headers(family) && members.size() >= 2 && missing_files.empty() && duplicates.empty() && problems.empty());
}

bool IndexRecord::made() const noexcept {
  if (verdict == IndexVerdict::absent) return shown();
  return verdict == IndexVerdict::wrong && has_headers(family) && unknown_files.empty();
}

}  // namespace vouchfs::formats
