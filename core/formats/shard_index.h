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

// The weights an index is for, told by the ending of the files it names. Readers refuse an index of one family that names files of another.
enum class IndexFamily {
  safetensors,
  torch,  // .bin
  tf,     // .h5: judged by names alone, since its weights are not parsed; never corrected, never made up
  flax,   // .msgpack: the same
};
inline constexpr IndexFamily kIndexFamilies[] = {IndexFamily::safetensors, IndexFamily::torch, IndexFamily::tf, IndexFamily::flax};
// "safetensors", "torch", "tf", "flax": the word of tensor tables and records.
const char* to_string(IndexFamily family) noexcept;
std::optional<IndexFamily> index_family_from(std::string_view word) noexcept;
// ".safetensors", ".bin", ".h5", ".msgpack".
std::string_view shard_ending(IndexFamily family) noexcept;
// Whether the headers of its shards can be read, so that an index can be judged against them.
constexpr bool has_headers(IndexFamily family) noexcept { return family == IndexFamily::safetensors || family == IndexFamily::torch; }
// The family of a weight file, and of an index, by its name; nullopt for names of neither.
std::optional<IndexFamily> shard_family_of(std::string_view file_name) noexcept;
std::optional<IndexFamily> index_family_of(std::string_view index_name);

// An index file larger than this is refused unread (the largest known is 18 MB).
inline constexpr std::uint64_t kMaxIndexBytes = 256ULL << 20;

struct ParsedIndex {
  std::map<std::string, std::string> weight_map;  // tensor -> file, as the publisher wrote it; of a key that comes twice the last
  std::optional<std::uint64_t> total_size;        // metadata.total_size when it is an unsigned integer ("4096.0" counts as one)
  std::string metadata = "{}";                    // the publisher's metadata object as compact JSON with sorted keys; "{}" when over 1 MiB
  std::vector<std::string> problems;              // what is wrong with the shape of the file: "the key metadata is missing", "… maps to an integer"
};
// Never fails on content: a file that is no JSON object gives an empty weight_map and a problem that says why and where.
// Behind a byte order mark the rest is read all the same; the mark is a problem. Python's reader, and so every loader, refuses it.
ParsedIndex parse_index(std::string_view text);

// True for "model.safetensors.index.json", "model.safetensors.index.fp16.json", "diffusion_pytorch_model.safetensors.index.json" …
// The same as index_family_of() == safetensors.
bool is_safetensors_index_name(std::string_view file_name);
// True for an index of any kind of weight file: "*.index.json", "*.index.VARIANT.json" (but not "model_index.json" or "index.json").
bool is_index_name(std::string_view file_name);

// The index that readers who insist on one look for beside a file that holds a whole model: "model.fp16.safetensors" ->
// "model.safetensors.index.fp16.json", "anything.bin" -> "pytorch_model.bin.index.json". Empty for a name of no family.
std::string index_name_of_single(std::string_view file_name);

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

// One weight file of a folder, as judge_folder sees it; .h5 and .msgpack files are given with readable false. Files of subfolders may be given too (with '/' in their name): they count only
// where an index names them.
struct FolderShard {
  std::string file_name;                         // relative to the folder
  bool readable = false;                         // its header parsed
  const std::vector<Tensor>* tensors = nullptr;  // null when not readable
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
  IndexFamily family = IndexFamily::safetensors;
  IndexVerdict verdict = IndexVerdict::absent;
  std::vector<std::string> problems;                  // sentences about the publisher's file, or why none can be made
  std::vector<IndexCorrection> corrections;           // sorted by tensor
  std::vector<std::string> members;                   // shards it covers that are there, relative to the folder, sorted
  std::vector<std::string> missing_files;             // shards it names, or that numbering says must be, that are not there; sorted
  std::map<std::string, std::string> absent_weights;  // tensors of shards that are missing or have no readable header -> file, as published
  std::optional<std::uint64_t> published_total_size;  // metadata.total_size as published
  std::string metadata = "{}";                        // the publisher's metadata, compact JSON, sorted keys
  std::vector<std::string> duplicates;                // tensors that several members hold; then no index is made up; sorted
  std::map<std::string, std::string> choices;         // of these, the holder that the publisher's index names
  std::vector<std::string> unknown_files;             // missing files, members without a usable header and files of another family that it names,
                                                      // of which no tensor is known; sorted
  // Whether a view shows an index of its own making, in place of a wrong one or of none. A wrong one is corrected only when no file is
  // unknown: an index that leaves out its tensors would make an incomplete model look complete. Else the publisher's bytes are served as they are.
  bool made() const noexcept;
  // Whether a view shows an index of this name at all: right and wrong always; absent only when it is wanted, complete and unambiguous.
  bool shown() const noexcept;
  bool operator==(const IndexRecord&) const = default;
};

// The weight map of a corrected or made-up index: every tensor of the readable members with the file that holds it (a duplicate with the
// publisher's choice, else with the first holder by name), and absent_weights as published. `shards` as for judge_folder.
std::map<std::string, std::string> weight_map_of(const IndexRecord& record, const std::vector<FolderShard>& shards);

// What total_size should be: the bytes of the readable members' tensors, a name that several hold once, and bytes that several tensors of a
// torch file share once (tied weights). Saturates.
std::uint64_t total_bytes_of(const std::vector<FolderShard>& members);

// Judges the indexes of one folder, each against the files of its own family. `other_index_present`: the folder has an index of weights of
// no family we know (*.onnx.index.json …); then none is made up (accelerate refuses two). Records come sorted by file_name.
//
// A publisher's index covers the files it names, and the files of the numbered sets they belong to. When it names no file that is there
// (it is unreadable, or for other names), it covers the files that an index of its name would be made up for. Tensors of other files do
// not make it wrong (consolidated.safetensors, an adapter, another variant).
//   wrong: a problem of its shape; a file of another family that is there; a tensor it gives to a file that does not hold it; a tensor of its files that it lacks; a name that is no
//          plain relative path; a total_size that is not the bytes of the tensors (with a shard missing or unreadable: one that is smaller).
//   Entries of shards that are not there, or whose header is broken, can be neither right nor wrong: they stay, as absent_weights.
//   Of a family without headers only the shape of the file and the names of shards are judged.
//   A shard that is missing by its number only counts as missing unless total_size fits what is there, or as many files are named as
//   the count says ("model-mtp-of-00005.safetensors" makes the fifth).
//
// Without an index one is made up (verdict absent, shown()) for a numbered set of two and more, or else for all safetensors files without
// numbers when they are two and more. Its name is the set's own for stems that readers know, "model…" ("pytorch_model…") for the only set of a folder and for files
// without numbers ("diffusion_pytorch_model…" when all begin so). None is made up: beside the single file readers would take
// (model.safetensors, model.fp16.safetensors for the variant, pytorch_model.bin, whichever of the families the set is of), for adapters, next
// to another "*.index.json" of any family, for a second set (of two whole ones safetensors comes first, and "model" before other names),
// with a number missing (then the record says which), with a broken header among its members, or with a tensor in two of them.
std::vector<IndexRecord> judge_folder(const std::string& folder, const std::vector<FolderShard>& shards, const std::vector<FolderIndex>& indexes,
                                      bool other_index_present);

}  // namespace vouchfs::formats
