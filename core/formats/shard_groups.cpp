#include "formats/shard_groups.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "formats/shard_index.h"

namespace vouchfs::formats {
namespace {

constexpr std::string_view kDiffusers = "diffusion_pytorch_model";
// Stems behind which a dotted part is a variant.
constexpr std::array<std::string_view, 6> kKnownStems = {"model", kDiffusers, "consolidated", "pytorch_model", "tf_model", "flax_model"};

// The stem that readers of a family look for.
std::string_view usual_stem(IndexFamily family) {
  switch (family) {
    case IndexFamily::safetensors:
      return "model";
    case IndexFamily::torch:
      return "pytorch_model";
    case IndexFamily::tf:
      return "tf_model";
    case IndexFamily::flax:
      return "flax_model";
  }
  return "model";
}

bool is_known(std::string_view stem) { return std::find(kKnownStems.begin(), kKnownStems.end(), stem) != kKnownStems.end(); }
bool is_adapter(std::string_view name) { return name.starts_with("adapter"); }

// "model.fp16" -> {model, fp16}; "model.safetensors" (of "model.safetensors-00003-of-00004.safetensors") -> {model}.
IndexName split_stem(std::string_view stem, IndexFamily family) {
  const std::string_view ending = shard_ending(family);
  if (stem.size() > ending.size() && stem.ends_with(ending)) stem.remove_suffix(ending.size());
  const auto dot = stem.rfind('.');
  if (dot != std::string_view::npos && is_known(stem.substr(0, dot)))
    return {std::string(stem.substr(0, dot)), std::string(stem.substr(dot + 1)), false, family};
  return {std::string(stem), {}, false, family};
}

// The name of the index of a numbered set.
IndexName name_of_set(const ShardName& shard, IndexFamily family) {
  IndexName name = split_stem(shard.stem, family);
  std::string_view tail = shard.after_number;  // "-of-00002.fp16.safetensors"
  if (tail.ends_with(shard_ending(family))) tail.remove_suffix(shard_ending(family).size());
  const auto dot = tail.find('.');
  if (dot != std::string_view::npos && name.variant.empty()) {
    name.variant = std::string(tail.substr(dot + 1));
    name.old_form = true;
  }
  return name;
}

// A single file that holds a whole model, or a variant of one: "model.safetensors", "model.fp16.safetensors".
std::optional<IndexName> single_model(std::string_view file_name) {
  IndexName name = split_stem(file_name, IndexFamily::safetensors);
  return is_known(name.stem) ? std::optional(std::move(name)) : std::nullopt;
}

std::string single_name(const IndexName& name) { return name.stem + (name.variant.empty() ? "" : "." + name.variant); }

// All safetensors files without numbers, when they are a model in pieces: two and more, and none of them a whole model by its name.
void add_unnumbered(const std::vector<std::string>& plain, std::vector<ShardGroup>& groups) {
  ShardGroup group;
  bool all_diffusers = true;
  for (const std::string& file : plain) {
    if (is_adapter(file)) continue;
    const auto single = single_model(file);
    if (single && !single->variant.empty()) continue;
    group.single_beside = group.single_beside || single.has_value();
    group.files.push_back(file);
    all_diffusers = all_diffusers && file.starts_with(kDiffusers);
  }
  if (group.files.size() < 2) return;
  const IndexName name = {std::string(all_diffusers ? kDiffusers : usual_stem(IndexFamily::safetensors)), {}, false, IndexFamily::safetensors};
  group.index_name = write_index_name(name);
  group.single = single_name(name);
  groups.push_back(std::move(group));
}

}  // namespace

std::string numbered_set_key(std::string_view file_name) {
  const auto name = parse_shard_name(file_name);
  if (!name) return {};
  return name->before_number + '\0' + name->after_number;
}

void find_missing(const std::vector<std::string>& present, std::size_t listed, ShardGroup& group) {
  std::set<std::uint64_t> numbers;
  for (const std::string& file : present) numbers.insert(parse_shard_name(file)->number);
  const ShardName first = *parse_shard_name(present.front());
  // Some writers count from 0.
  const bool from_zero = numbers.count(0) != 0 && numbers.count(first.count) == 0;
  const std::uint64_t low = from_zero ? 0 : 1;
  const std::uint64_t inside =
      static_cast<std::uint64_t>(std::count_if(numbers.begin(), numbers.end(), [&](std::uint64_t n) { return n >= low && n < low + first.count; }));
  group.missing_count += first.count - inside;
  const std::uint64_t most = listed < kMaxMissingListed ? kMaxMissingListed - listed : 1;
  for (std::uint64_t n = low; n < low + first.count && group.missing.size() < most; ++n) {
    if (numbers.count(n) != 0) continue;
    std::string digits = std::to_string(n);
    if (digits.size() < first.digits) digits.insert(0, first.digits - digits.size(), '0');
    group.missing.push_back(first.before_number + digits + first.after_number);
  }
}

std::string index_name_of_single(std::string_view file_name) {
  const auto family = shard_family_of(file_name);
  if (!family) return {};
  IndexName name = split_stem(file_name, *family);
  if (!is_known(name.stem)) name = {std::string(usual_stem(*family)), {}, false, *family};
  return write_index_name(name);
}

std::vector<ShardGroup> group_shards(const std::vector<std::string>& file_names, IndexFamily family) {
  std::map<std::string, std::vector<std::string>> sets;
  std::vector<std::string> plain;
  for (const std::string& file : file_names) {
    if (file.find('/') != std::string::npos || shard_family_of(file) != family) continue;
    const std::string key = numbered_set_key(file);
    (key.empty() ? plain : sets[key]).push_back(file);
  }
  const std::set<std::string> here(file_names.begin(), file_names.end());
  const auto is_foreign = [](const IndexName& name) { return !is_known(name.stem) && !is_adapter(name.stem); };
  const auto foreign =
      std::count_if(sets.begin(), sets.end(), [&](const auto& set) { return is_foreign(name_of_set(*parse_shard_name(set.second.front()), family)); });
  const bool only_set = sets.size() == 1 && foreign == 1;

  std::vector<ShardGroup> groups;
  std::size_t listed = 0;
  for (auto& [key, files] : sets) {
    IndexName name = name_of_set(*parse_shard_name(files.front()), family);
    // Readers look for one name; a folder with one numbered set under another name gets its index under that name.
    if (only_set || name.stem.empty()) name.stem = std::string(name.stem.starts_with(kDiffusers) ? kDiffusers : usual_stem(family));
    ShardGroup group;
    group.index_name = write_index_name(name);
    std::sort(files.begin(), files.end());
    group.files = files;
    group.single = single_name(name);
    group.single_beside = here.count(group.single + std::string(shard_ending(family))) != 0;
    find_missing(files, listed, group);
    listed += group.missing.size();
    groups.push_back(std::move(group));
  }
  if (sets.empty() && family == IndexFamily::safetensors) {
    std::sort(plain.begin(), plain.end());
    add_unnumbered(plain, groups);
  }
  return groups;
}

}  // namespace vouchfs::formats
