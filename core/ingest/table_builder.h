// table_builder.h: from what was read of each file to the tensor table, and what it means in words.
// Layer: core/ingest (5). Pure functions over values.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/file_sealer.h"
#include "seal/tensor_table.h"

namespace vouchfs::ingest {

// Takes tables, indexes and fixes out of `files`, which are sorted by path.
seal::TensorTable build_table(std::vector<SealedFile>& files);
// One sentence a broken header, wrong index, missing shard and tensor that several files hold; each names the file.
std::vector<std::string> table_warnings(const seal::TensorTable& table);
// --strict. Fails: bad_format (broken header, unknown dtype, wrong index), incomplete (missing shard); names the first, says how many.
Status check_strict(const seal::TensorTable& table, const std::string& shown_root);

}  // namespace vouchfs::ingest
