// file_names.h: what the name of a weight file says of its part in a model. Internal to core/doctor.
// Layer:  core/doctor (5). Pure functions.
// Source: names as transformers, diffusers and peft write them.
#pragma once

#include <string>
#include <string_view>

namespace vouchfs::doctor {

// "fp16" of "model.fp16.safetensors", "model.fp16-00001-of-00002.safetensors" and "diffusion_pytorch_model-00001-of-00002.fp16.safetensors"; else "".
std::string variant_of(std::string_view file_name);
bool is_adapter_name(std::string_view file_name);       // adapter_model.*
bool is_consolidated_name(std::string_view file_name);  // consolidated*.safetensors, consolidated.NN.pth
bool is_partial_name(std::string_view file_name);       // what the usual download tools call a file that is not finished
// "model.gguf" of "model.gguf.part"; empty for what has no such name.
std::string_view name_when_done(std::string_view file_name);
bool is_weights_on_the_way(std::string_view file_name);  // is_partial_name, and a weight file when done
// Usual for a shard: STEM-NNNNN-of-NNNNN, five digits each.
bool is_usual_shard_name(std::string_view file_name);

}  // namespace vouchfs::doctor
