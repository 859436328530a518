#include <gtest/gtest.h>

#include "formats/shard_index.h"

namespace vouchfs::formats {
namespace {

std::string parsed(std::string_view name) {
  const auto shard = parse_shard_name(name);
  if (!shard) return "none";
  return shard->stem + "|" + std::to_string(shard->number) + "|" + std::to_string(shard->count) + "|" + shard->before_number + "|" +
         std::to_string(shard->digits) + "|" + shard->after_number;
}

TEST(ShardName, UsualAndUnusualFormsAreRead) {
  EXPECT_EQ(parsed("model-00002-of-00003.safetensors"), "model|2|3|model-|5|-of-00003.safetensors");
  EXPECT_EQ(parsed("model-00002-of-000004.safetensors"), "model|2|4|model-|5|-of-000004.safetensors");
  EXPECT_EQ(parsed("model.safetensors-00003-of-00004.safetensors"), "model.safetensors|3|4|model.safetensors-|5|-of-00004.safetensors");
  EXPECT_EQ(parsed("model.fp16-00001-of-00002.safetensors"), "model.fp16|1|2|model.fp16-|5|-of-00002.safetensors");
  EXPECT_EQ(parsed("diffusion_pytorch_model-00001-of-00002.fp16.safetensors"),
            "diffusion_pytorch_model|1|2|diffusion_pytorch_model-|5|-of-00002.fp16.safetensors");
  EXPECT_EQ(parsed("quant_model_weights-00008-of-00010.safetensors"), "quant_model_weights|8|10|quant_model_weights-|5|-of-00010.safetensors");
  EXPECT_EQ(parsed("model_00-of-02.safetensors"), "model|0|2|model_|2|-of-02.safetensors");
  EXPECT_EQ(parsed("1-of-2.safetensors"), "|1|2||1|-of-2.safetensors");
  EXPECT_EQ(parsed("best-of-5-00001-of-00002.safetensors"), "best-of-5|1|2|best-of-5-|5|-of-00002.safetensors");
}

TEST(ShardName, OtherNamesAreNone) {
  for (const char* name :
       {"", "model.safetensors", "layers-22.safetensors", "model-mtp-of-00005.safetensors", "model-00001-of-.safetensors", "-of-", "-of-00002",
        "model-1-of-2x.safetensors", "model-00001-of-9999999999999999999.safetensors", "model-9999999999999999999-of-2.safetensors"})
    EXPECT_EQ(parsed(name), "none") << name;
}

TEST(IndexNames, SafetensorsIndexesAreToldFromOthers) {
  for (const char* name :
       {"model.safetensors.index.json", "model.safetensors.index.fp16.json", "diffusion_pytorch_model.safetensors.index.json",
        "diffusion_pytorch_model.safetensors.index.fp16.json", "diffusion_pytorch_model.safetensors.fp16.index.json", "consolidated.safetensors.index.json"}) {
    EXPECT_TRUE(is_safetensors_index_name(name)) << name;
    EXPECT_TRUE(is_index_name(name)) << name;
  }
  for (const char* name : {"pytorch_model.bin.index.json", "pytorch_model.bin.index.fp16.json", "tf_model.h5.index.json"}) {
    EXPECT_FALSE(is_safetensors_index_name(name)) << name;
    EXPECT_TRUE(is_index_name(name)) << name;
  }
  for (const char* name : {"model_index.json", "index.json", ".index.json", "config.json", "model.safetensors", "model.safetensors.index.json.orig",
                           "index.fp16.json", "", ".json"})
    EXPECT_FALSE(is_index_name(name)) << name;
  EXPECT_FALSE(is_safetensors_index_name(".safetensors.index.json"));
}

}  // namespace
}  // namespace vouchfs::formats
