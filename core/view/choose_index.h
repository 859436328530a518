// choose_index.h: which index of a model is meant, and what a view shows of it. For people who do not mount: `vouchfs index`.
// Layer:  core/view (5). Pure functions over a tensor table; reads no file.
// Errors: invalid_argument (several fit the wish; all are named), not_found (no such folder or index, a model that needs none),
//         incomplete (shards are missing; they are named), bad_format (a broken header, a tensor in two files: none can be made).
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "seal/tensor_table.h"

namespace vouchfs::view {

struct IndexWish {
  std::optional<std::string> folder;  // "" or "." for the root of the model; absent: any
  std::optional<std::string> name;    // "pytorch_model.bin.index.json"; absent: any
  bool single = false;                // one for a model of a single file too, which loaders do not need
};

enum class IndexOrigin {
  published,    // the publisher's bytes: they are right
  broken,       // the publisher's bytes too: they are wrong, and no better index can be made
  corrected,    // in place of a wrong one
  synthesized,  // there is none
  single,       // of a single file, on request; no view shows it
};
// "right", "wrong", "corrected", "synthesized", "single": the states of index.json, and one more.
const char* to_string(IndexOrigin origin) noexcept;

struct ChosenIndex {
  formats::IndexRecord record;
  IndexOrigin origin = IndexOrigin::synthesized;
  std::string path;  // relative to the model: "unet/diffusion_pytorch_model.safetensors.index.json"
  std::string made;  // what the headers say, byte for byte as a mount shows it; also for published, where a view does not use it; empty for broken
};

// `model` names the model in errors.
Result<ChosenIndex> choose_index(const seal::TensorTable& table, const IndexWish& wish, const std::string& model);

}  // namespace vouchfs::view
