// shard_groups.h: which weight files of a folder belong together, and what an index over them would be called. Internal to core/formats.
// Layer:  core/formats (2). Pure functions over names.
// Source: names as transformers and diffusers write them:
//           STEM.safetensors, STEM-NNNNN-of-NNNNN.safetensors                              index STEM.safetensors.index.json
//           STEM.VARIANT.safetensors, STEM.VARIANT-NNNNN-of-NNNNN.safetensors              index STEM.safetensors.index.VARIANT.json
//           STEM-NNNNN-of-NNNNN.VARIANT.safetensors (diffusers, old)                       index STEM.safetensors.VARIANT.index.json
//         and the same with .bin, .h5 and .msgpack in place of .safetensors: each ending is a family with indexes of its own.
//         A dotted part of a stem counts as a variant only behind a stem that readers know ("model", "diffusion_pytorch_model" …):
//         "Mistral-7B-v0.1-00001-of-00002" has no variant "1".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/shard_index.h"

namespace vouchfs::formats {

struct IndexName {
  std::string stem;       // "model"; empty for an index of weights of no family we know
  std::string variant;    // "fp16"; empty when none
  bool old_form = false;  // STEM.safetensors.VARIANT.index.json
  IndexFamily family = IndexFamily::safetensors;
};
// nullopt when the name is no index of weights.
std::optional<IndexName> parse_index_name(std::string_view file_name);
std::string write_index_name(const IndexName& name);

// Names between '/' that are not empty, "." or "..", and within the system's limits (NAME_MAX, PATH_MAX): what a seal can hold as a path.
bool is_plain_relative_path(std::string_view path);

// Files that an index would cover.
struct ShardGroup {
  std::string index_name;
  std::vector<std::string> files;    // sorted
  std::vector<std::string> missing;  // that the numbers say must be; sorted, at most kMaxMissingListed
  std::uint64_t missing_count = 0;   // all of them
  std::string single;                // "STEM[.VARIANT]": a file of this name and an ending readers know holds the whole model
  bool single_beside = false;        // it is there too, in this family: readers take that one
};
// A name may claim any count; so many missing names are written out, of all sets together, but at least one of each.
inline constexpr std::uint64_t kMaxMissingListed = 10'000;

// The groups of one family in a folder, from the names alone: numbered sets, or else, of safetensors, all plain files when they are two and
// more (a plain .bin may be anything: training_args.bin, optimizer.bin). Files in subfolders (names with '/') and of other endings belong to none.
std::vector<ShardGroup> group_shards(const std::vector<std::string>& file_names, IndexFamily family = IndexFamily::safetensors);

// Files that the numbering of one set says must be there. `present`: names of that set, at least one. `listed`: names written out for other sets.
void find_missing(const std::vector<std::string>& present, std::size_t listed, ShardGroup& group);

// What two names of one numbered set have in common: everything but the number. Empty for a name without numbers.
std::string numbered_set_key(std::string_view file_name);

}  // namespace vouchfs::formats
