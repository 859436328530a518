// tensor_table.h: tables/<digest>.json: every tensor of the model with its place, what is broken, and the indexes as judged.
// Layer:  core/seal (3).
// Format: docs/formats/seal.md. Deterministic like the manifest. Tensor rows are objects with name, dtype, shape, begin, end.
// Errors: bad_format.
// Cost:   parsing holds the whole table in memory: about 200 bytes a tensor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/safetensors.h"
#include "formats/shard_index.h"
#include "formats/tensor.h"
#include "seal/fix_table.h"

namespace vouchfs::seal {

inline constexpr std::uint64_t kMaxTableBytes = 1ULL << 30;
inline constexpr std::string_view kTableFormat = "vouchfs-tensors";
inline constexpr std::uint64_t kTableVersion = 1;
// Of a table that holds fixes: a reader that does not know them would show other bytes under the same model digest.
inline constexpr std::uint64_t kTableVersionWithFixes = 2;

struct TableFile {
  std::string path;
  std::string format;                             // "safetensors", "gguf", "torch"
  std::vector<formats::Tensor> tensors;           // in order of (begin, end, name); only those of torch may overlap; empty when broken
  std::optional<formats::HeaderProblem> problem;  // why the header could not be used
  std::vector<std::uint64_t> reach = {};          // [i]: the largest end of tensors 0 to i; set by index_overlaps, empty otherwise; not written
};

// True for a format whose tensors may share bytes: torch (tied weights, views of one storage).
bool may_overlap(std::string_view format) noexcept;
// Fills `reach` of a file whose tensors may overlap, so that tensors_in need not look at all of them. The parser has done it.
void index_overlaps(TableFile& file);

struct TensorTable {
  std::vector<TableFile> files;               // weight files, sorted by path
  std::vector<formats::IndexRecord> indexes;  // sorted by (folder, file_name)
  std::vector<FileFix> fixes;                 // files that a view mends, sorted by path
};

// The fix of a file, or null. O(log n).
const FileFix* find_fix(const TensorTable& table, std::string_view path);

// The one text for a table. Requires what the parser checks: sorted files, tensors and indexes; paths that check_path takes.
std::string write_tensor_table(const TensorTable& table);
// Accepts other whitespace and unknown keys; refuses everything a reader could trip over: wrong order, overlaps, unsafe paths, floats.
Result<TensorTable> parse_tensor_table(std::string_view text);

// Names of the tensors of one file that bytes [offset, offset + length) cut, in order of begin. O(log n + hits); where tensors overlap also those that
// begin between the first hit and the last, and without `reach` all of them.
std::vector<std::string> tensors_in(const TableFile& file, std::uint64_t offset, std::uint64_t length);

}  // namespace vouchfs::seal
