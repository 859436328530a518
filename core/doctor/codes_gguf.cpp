// The codes about GGUF files. Loader texts: ggml src/gguf.cpp and llama.cpp's model loader.
#include "doctor/codes.h"

namespace vouchfs::doctor {

std::span<const CodeFacts> gguf_codes() {
  using enum Severity;
  using enum Verdict;
  static const std::vector<CodeFacts> kCodes = {
      {"gguf.truncated", error, damaged, "the file ends before its tensors do",
       {"tensor 'NAME' data is not within the file bounds, model is corrupted or incomplete"}, "fetch the file again, or resume the download where it stopped"},
      {"gguf.header_truncated", error, damaged, "the file ends inside its header", {"gguf_init_from_file_impl: failed to read tensor info", "failed to read key-value pairs"},
       "fetch the file again"},
      {"gguf.old_format", error, unusable, "a model in a format before GGUF", {"gguf_init_from_file_impl: invalid magic characters: 'tjgg', expected 'GGUF'"},
       "fetch the GGUF of this model, or convert it with an old llama.cpp"},
      {"gguf.version", error, unusable, "a GGUF version that readers refuse",
       {"gguf_init_from_file_impl: this GGUF file is version N but this software only supports up to version 3", "GGUFv1 is no longer supported. please use a more up-to-date version"},
       "fetch a newer conversion of the model, or upgrade the engine when the version is a later one"},
      {"gguf.byte_order", error, unusable, "the numbers of the file are in the byte order of another machine",
       {"gguf_init_from_file_impl: failed to load model: this GGUF file version N is extremely large, is there a mismatch between the host and model endianness?"},
       "fetch the file for this byte order, or convert it: gguf-py/scripts/gguf_convert_endian.py of llama.cpp"},
      {"gguf.absurd_count", error, damaged, "the header claims more entries than the file could hold", {"gguf_init_from_file_impl: failed to read header", "bad_alloc"},
       "fetch the file again; do not load one that came like this"},
      {"gguf.duplicate_tensor", error, damaged, "two tensors have the same name", {"gguf_init_from_file_impl: duplicate tensor name 'NAME' for tensors N and M", "invalid model: tensor 'NAME' is duplicated"},
       "ask the publisher; the file was written wrong"},
      {"gguf.unknown_type", error, unusable, "a tensor has a type that no reader knows", {"gguf_init_from_file_impl: tensor 'NAME' has invalid ggml type N. should be in [0, 40)"},
       "upgrade the engine when the type is a new one; else fetch the file again"},
      {"gguf.header", error, damaged, "the header breaks a rule of the format", {"gguf_init_from_file_impl: failed to read tensor info", "failed to load model"},
       "fetch the file again; if it came like this, ask the publisher"},
      {"gguf.split_missing", error, incomplete, "parts of a split model are absent", {"llama_model_load: error loading model: failed to load GGUF split from NAME", "illegal split file idx"},
       "fetch the parts named, into the same folder"},
      {"gguf.split_mismatch", error, damaged, "the parts of a split model do not belong together", {"invalid split file name", "corrupted model: N tensors expected but M found"},
       "fetch all parts from one place and one revision"},
      {"gguf.raw_part", error, incomplete, "a piece of a file that was cut to upload it", {"gguf_init_from_file_impl: invalid magic characters", "data is not within the file bounds, model is corrupted or incomplete"},
       "join the pieces in order with cat"},
      {"gguf.trailing_bytes", note, whole, "bytes follow the last tensor", {}, "nothing needs to be done: readers pass over them"},
      {"gguf.missing_padding", note, whole, "the padding behind the last tensor is not there", {}, "nothing needs to be done: readers do not need it"},
  };
  return kCodes;
}

}  // namespace vouchfs::doctor
