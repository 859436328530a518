// shard_index.h: Hugging Face style shard indexes: parsing one, naming one, and judging one against the headers.
// Layer:  core/formats (2). Pure functions over values.
// Source: reference: transformers, diffusers and huggingface_hub index files: {"metadata": {...}, "weight_map": {tensor: file}}.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/tensor.h"

namespace vouchfs::formats {

// An index file larger than this is refused unread (the largest known is 18 MB).
inline constexpr std::uint64_t kMaxIndexBytes = 256ULL << 20;

struct ParsedIndex {
  std::map<std::string, std::string> weight_map;  // tensor -> file, as the publisher wrote it
  std::optional<std::uint64_t> total_size;        // metadata.total_size when it is an unsigned integer
  std::string metadata = "{}";                    // the publisher's metadata object as compact JSON with sorted keys
  std::vector<std::string> problems;              // what is wrong with the shape of the file: "no key metadata", "tensor x maps to a number"
};
// Never fails on content: a file that is no JSON object gives an empty weight_map and a problem that says why and where.
ParsedIndex parse_index(std::string_view text);

// True for "model.safetensors.index.json", "model.safetensors.index.fp16.json", "diffusion_pytorch_model.safetensors.index.json" …
bool is_safetensors_index_name(std::string_view file_name);
// True for an index of any kind of weight file: "*.index.json", "*.index.VARIANT.json" (but not "model_index.json" or "index.json").
bool is_index_name(std::string_view file_name);

// "model-00002-of-00003.safetensors" -> {stem "model", number 2, count 3}; nullopt for other names.
struct ShardName {
  std::string stem;
  std::uint64_t number = 0;
  std::uint64_t count = 0;
  std::string before_number;  // "model-", to write the names of missing shards: before_number + number + "-of-" + count + ".safetensors"
  std::size_t digits = 5;     // digits of the number as written
  std::string after_number;   // "-of-00003.safetensors"
};
std::optional<ShardName> parse_shard_name(std::string_view file_name);

// One weight file of a folder, as judge_folder sees it.
struct FolderShard {
  std::string file_name;               // relative to the folder
  bool readable = false;               // its header parsed
  const std::vector<Tensor>* tensors;  // null when not readable
};
// One publisher's index of a folder.
struct FolderIndex {
  std::string file_name;
  ParsedIndex parsed;
};

enum class IndexVerdict {
  right,   // the publisher's bytes are right: serve them
  wrong,   // the publisher's index differs from the headers: serve the corrected one
  absent,  // the publisher shipped none
};
const char* to_string(IndexVerdict verdict) noexcept;

// One entry that differs: `was` as published, `now` as the headers say; empty when there is none.
struct IndexCorrection {
  std::string tensor;  // or "metadata.total_size"
  std::string was;
  std::string now;
  bool operator==(const IndexCorrection&) const = default;
};

// What is known of one index of one folder; stored in the tensor table, so that a mount parses nothing.
struct IndexRecord {
  std::string folder;     // "" for the root of the model, else "unet" or "a/b"
  std::string file_name;  // "model.safetensors.index.json"
  IndexVerdict verdict = IndexVerdict::absent;
  std::vector<std::string> problems;                  // sentences about the publisher's file
  std::vector<IndexCorrection> corrections;           // sorted by tensor
  std::vector<std::string> members;                   // shards it covers that are there, relative to the folder, sorted
  std::vector<std::string> missing_files;             // shards it names, or that numbering says must be, that are not there; sorted
  std::map<std::string, std::string> absent_weights;  // tensors of missing shards -> file, as published
  std::optional<std::uint64_t> published_total_size;  // metadata.total_size as published
  std::string metadata = "{}";                        // the publisher's metadata, compact JSON, sorted keys
  std::vector<std::string> duplicates;                // tensors that several members hold; then no index is made; sorted
  // Whether a view shows an index of this name at all: right and wrong always; absent only when it is wanted, complete and unambiguous.
  bool shown() const noexcept;
  bool operator==(const IndexRecord&) const = default;
};

// Judges the indexes of one folder. `other_index_present`: the folder has an index of another kind of weights (*.bin.index.json …);
// then none is made up (accelerate refuses two). A shard set named by numbers, or two and more files of one stem, wants an index;
// one file called model.safetensors (or any single file) wants none. Records come sorted by file_name.
std::vector<IndexRecord> judge_folder(const std::string& folder, const std::vector<FolderShard>& shards,
                                      const std::vector<FolderIndex>& indexes, bool other_index_present);

}  // namespace vouchfs::formats
