// Which tensors of zeros are worth a word.
#include "doctor/zero_names.h"

#include <gtest/gtest.h>

namespace vouchfs::doctor {
namespace {

formats::Tensor named(const std::string& name, std::uint64_t bytes = 16384, const std::string& dtype = "F32") { return {name, dtype, {}, 100, 100 + bytes}; }

TEST(ZeroTensor, IsUsualForBiasesNormsAndCounters) {
  for (const char* name : {"layers.0.mlp.bias", "model.norm.weight", "h.0.ln_1.weight", "encoder.LayerNorm.beta", "bn1.running_mean", "bn1.running_var",
                           "q_norm.weight", "post_attention_layernorm.weight", "attn.masked_bias", "embeddings.position_ids", "rotary.inv_freq", "qkv.qzeros",
                           "controlnet_zero.0.weight", "blk.3.attn_norm.weight", "optimizer.state.0.exp_avg", "state.7.momentum_buffer"})
    EXPECT_TRUE(may_be_zero(named(name))) << name;
}

TEST(ZeroTensor, IsWorthAWordForWeights) {
  for (const char* name : {"layers.0.mlp.up_proj.weight", "blk.0.ffn_up.weight", "lm_head.weight", "conv.kernel", "base_model.model.q_proj.lora_B.weight",
                           "first", "normal_proj.weight"})
    EXPECT_FALSE(may_be_zero(named(name))) << name;
}

TEST(ZeroTensor, OfLessThanABlockMattersOnlyForWeights) {
  EXPECT_TRUE(may_be_zero(named("alpha", 4095)));
  EXPECT_FALSE(may_be_zero(named("alpha", 4096)));
  EXPECT_FALSE(may_be_zero(named("head.weight", 24)));
  EXPECT_TRUE(may_be_zero(named("head.weight", 0)));
}

TEST(ZeroTensor, OfWholeNumbersMattersOnlyForWeights) {
  EXPECT_TRUE(may_be_zero(named("steps", 16384, "I64")));
  EXPECT_TRUE(may_be_zero(named("steps", 16384, "int64")));
  EXPECT_FALSE(may_be_zero(named("q_proj.weight", 16384, "I8")));
  EXPECT_FALSE(may_be_zero(named("blk.0.ffn_up", 16384, "Q4_K")));
}

TEST(ZeroRows, AreUsualInEmbeddingsAndHeads) {
  EXPECT_TRUE(may_have_zero_rows(named("model.embed_tokens.weight")));
  EXPECT_TRUE(may_have_zero_rows(named("lm_head.weight")));
  EXPECT_TRUE(may_have_zero_rows(named("token_embd.weight")));
  EXPECT_FALSE(may_have_zero_rows(named("layers.0.mlp.up_proj.weight")));
}

}  // namespace
}  // namespace vouchfs::doctor
