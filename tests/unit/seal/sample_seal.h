// sample_seal.h: a small manifest and a tensor table that uses every field, as values.
#pragma once

#include "seal/manifest.h"
#include "seal/tensor_table.h"

namespace vouchfs::seal::test {

inline hash::Digest digest_of(std::uint8_t byte) {
  hash::Digest digest{};
  digest.fill(byte);
  return digest;
}

inline Manifest sample_manifest() {
  Manifest manifest;
  manifest.files = {{"a b.txt", 0, digest_of(1), digest_of(2)},
                    {"model-00001-of-00002.safetensors", 4200, digest_of(3), digest_of(4)},
                    {"sub/mod\xC3\xA8le \"q\\\x01.bin", kMaxFileBytes, digest_of(0xAB), digest_of(0xFF)}};
  manifest.tensors_bytes = 77;
  manifest.tensors_fsverity = digest_of(9);
  return manifest;
}

inline TensorTable sample_table() {
  TensorTable table;
  table.files = {{"broken.safetensors", "safetensors", {}, formats::HeaderProblem{"InvalidOffset", "invalid offset for tensor `x`", "tensor 'x' \x1b", "x", 9}},
                 {"model-00001-of-00002.safetensors",
                  "safetensors",
                  {{"", "U8", {}, 100, 101}, {"empty", "F32", {0, 7}, 101, 101}, {"w.\"0\"", "BF16", {2, 18446744073709551615ULL}, 101, 4200}},
                  std::nullopt}};
  formats::IndexRecord wrong;
  wrong.folder = "unet/a";
  wrong.file_name = "model.safetensors.index.json";
  wrong.verdict = formats::IndexVerdict::wrong;
  wrong.problems = {"the key metadata is missing", "another"};
  wrong.corrections = {{"a", "x.safetensors", "y.safetensors"}, {"b", "", "y.safetensors"}, {"b", "z", ""}};
  wrong.members = {"y.safetensors", "z.safetensors"};
  wrong.missing_files = {"gone.safetensors"};
  wrong.absent_weights = {{"q", "gone.safetensors"}, {"r", "sub/gone.safetensors"}};
  wrong.published_total_size = 18446744073709551615ULL;
  wrong.metadata = R"({"total_size":1,"x":[1,{"y":null}]})";
  wrong.duplicates = {"d", "e"};
  wrong.unknown_files = {"gone-2.safetensors", "z.safetensors"};
  wrong.choices = {{"d", "z.safetensors"}};
  formats::IndexRecord absent;
  absent.file_name = "model.safetensors.index.json";
  table.indexes = {absent, wrong};
  return table;
}

}  // namespace vouchfs::seal::test
