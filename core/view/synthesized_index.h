// synthesized_index.h: the index files a view makes itself, from the manifest and the tensor table of a seal alone.
// Layer:   core/view (5). Pure functions: the same seal gives the same bytes, whatever the place, the name and the hour.
// Format:  Hugging Face style: {"metadata": {"total_size": …}, "weight_map": {tensor: file}}; sorted keys, two blanks of indent, one newline at the end.
// Cost:    every tensor row once; memory: the text and a map of all tensor names while it is made.
#pragma once

#include <string>

#include "formats/shard_index.h"
#include "seal/seal_directory.h"

namespace vouchfs::view {

// The index.json in the root of a model. weight_map covers all folders; files are paths relative to the root.
// - metadata.total_size and total_parameters count every tensor of every file that is there: a name held twice counts twice; tied tensors, which
//   are the same bytes of a torch file, count once.
// - Of weights that a folder holds as safetensors and as .bin, which is two forms of one thing, the .bin tensors are left out.
// - A tensor of a missing shard keeps its entry, under the file the publisher named, unless that is no plain path below the model.
// - A name that several files hold is listed in metadata.vouchfs.ambiguous with all of them; weight_map names the first of them
//   that is there, by path.
// - metadata.vouchfs: model_digest, files [{path, size, sha256, fsverity}] as they are shown, of a mended one with
//   fixes [kind] and sealed {size, sha256, fsverity}, ambiguous {tensor: [file]}, missing_files [path],
//   broken_files [{path, problem, detail}], indexes [{path, state, problems}]; state is right,
//   corrected, wrong (served as it is: a corrected one would hide a missing shard), synthesized or absent (none is made up).
std::string root_index(const seal::OpenedSeal& seal);

// The index of one folder and family, as the headers say: in place of a wrong one of the publisher, or of none at all. The publisher's
// other metadata stay, and so does its total_size unless that was found wrong; else total_size counts each tensor of the members once.
std::string folder_index(const seal::TensorTable& table, const formats::IndexRecord& record);

// "unet/diffusion_pytorch_model.safetensors.index.json"
std::string index_path(const formats::IndexRecord& record);

}  // namespace vouchfs::view
