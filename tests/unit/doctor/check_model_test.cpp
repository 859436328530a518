// How the files of a model fit together: indexes, shards, layouts, adapters, configuration.
#include "unit/doctor/sample_facts.h"
#include "unit/doctor/sample_weights.h"

namespace vouchfs::doctor {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kIndex = "model.safetensors.index.json";
const std::string kFirst = "model-00001-of-00002.safetensors";
const std::string kSecond = "model-00002-of-00002.safetensors";

// Two shards, tensor a in the first and b in the second.
struct TwoShards : ScratchFolder {
  explicit TwoShards(const std::string& index = index_of({{"a", kFirst}, {"b", kSecond}})) {
    put(kFirst, weights({{"a"}}));
    put(kSecond, weights({{"b"}}));
    if (!index.empty()) put(kIndex, index);
  }
  std::vector<std::string> say() const { return said(diagnose().findings); }
};

TEST(CheckIndex, ARightOneIsSilent) { EXPECT_THAT(TwoShards().say(), IsEmpty()); }

TEST(CheckIndex, AMissingShardIsOneFindingWithItsTensorsAndBytes) {
  const TwoShards folder;
  stdfs::remove(folder.path(kSecond));
  const Report report = folder.diagnose();
  ASSERT_THAT(said(report.findings), ElementsAre("error index.names_missing_shard " + kSecond));
  EXPECT_THAT(report.findings.front().tensors, ElementsAre("b"));
  EXPECT_THAT(report.findings.front().message, HasSubstr("1 tensor, 8 bytes"));
  EXPECT_EQ(report.verdict, Verdict::incomplete);
}

TEST(CheckIndex, AShardThatOnlyMovedIsAWrongEntry) {
  const TwoShards folder;
  stdfs::rename(folder.path(kSecond), folder.path("other.safetensors"));
  const auto findings = folder.diagnose().findings;
  ASSERT_THAT(said(findings), ElementsAre("error index.wrong_shard " + std::string(kIndex)));
  EXPECT_THAT(findings.front().message, HasSubstr("'other.safetensors'"));
}

TEST(CheckIndex, AWrongEntryBesideAMissingShardIsPutRightAfterTheShard) {
  const TwoShards folder(index_of({{"a", kSecond}, {"b", kSecond}}));
  EXPECT_THAT(folder.diagnose().findings.front().advice, HasSubstr("write the index again"));
  stdfs::remove(folder.path(kSecond));
  const auto findings = folder.diagnose().findings;
  ASSERT_THAT(said(findings), ElementsAre("error index.wrong_shard " + std::string(kIndex), "error index.names_missing_shard " + kSecond));
  EXPECT_THAT(findings.front().advice, HasSubstr("fetch the shards that are missing first"));
}

TEST(CheckIndex, OfJsonThatBreaksOffNoWordsOfAnotherFaultAreQuoted) {
  const TwoShards folder(R"({"metadata":{},"weight_map":{"a)");
  const auto findings = folder.diagnose().findings;
  ASSERT_THAT(said(findings), ElementsAre("error index.not_json " + std::string(kIndex)));
  EXPECT_THAT(findings.front().loader, ElementsAre("json.decoder.JSONDecodeError"));
  EXPECT_THAT(findings.front().message, ::testing::Not(HasSubstr("not a valid index")));
  folder.put(kIndex, "");
  EXPECT_THAT(folder.diagnose().findings.front().loader, ElementsAre("json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"));
}

TEST(CheckIndex, BesideAnIndexThatNamesNothingTheNumbersTellWhatIsMissing) {
  for (const char* index : {"", "<html><title>404</title></html>", R"({"metadata":{}})", R"({"metadata":{},"weight_map":{}})"}) {
    const TwoShards folder("x");
    folder.put(kIndex, index);
    const std::size_t whole = folder.say().size();
    stdfs::remove(folder.path(kSecond));
    const auto lines = folder.say();
    EXPECT_EQ(lines.size(), whole + 1) << index;
    EXPECT_THAT(lines, ::testing::Contains("error shards.gap " + kSecond)) << index;
    EXPECT_THAT(folder.diagnose().findings.front().advice, HasSubstr("fetch the shards that are missing first")) << index;
  }
}

TEST(CheckIndex, AnIndexThatNamesNothingOmitsAllTensorsOfTheShards) {
  const TwoShards folder(R"({"metadata":{"total_size":16},"weight_map":{}})");
  const auto findings = folder.diagnose().findings;
  ASSERT_THAT(said(findings), ElementsAre("error index.omits_tensor " + std::string(kIndex)));
  EXPECT_THAT(findings.front().tensors, ElementsAre("a", "b"));
  EXPECT_THAT(findings.front().command, HasSubstr(" --write --force"));
  const ScratchFolder single;  // readers take the single file
  single.put(kIndex, R"({"metadata":{},"weight_map":{}})");
  single.put("model.safetensors", weights({{"a"}}));
  EXPECT_THAT(said(single.diagnose().findings), IsEmpty());
  folder.put("model.safetensors", weights({{"c"}}));
  EXPECT_THAT(folder.say(), ::testing::Not(::testing::Contains("error index.omits_tensor " + std::string(kIndex))));
}

TEST(CheckShards, AnIndexCanBeWrittenOnceTheBrokenShardIsPutRight) {
  const TwoShards folder("");
  EXPECT_THAT(folder.diagnose().findings.front().advice, HasSubstr("write the index from the headers"));
  folder.put(kSecond, "<html><title>404</title></html>");
  const auto findings = folder.diagnose().findings;
  ASSERT_THAT(said(findings), ElementsAre("error content.web_page " + kSecond, "error index.missing " + std::string(kIndex)));
  EXPECT_THAT(findings.back().advice, HasSubstr("put the broken shards right first"));
}

TEST(CheckIndex, ABrokenShardIsNotAlsoAWrongIndex) {
  const TwoShards folder;
  folder.put(kSecond, weights({{"b"}}).substr(0, 30));
  const auto findings = folder.diagnose().findings;
  ASSERT_THAT(said(findings), ElementsAre("error safetensors.header_truncated " + kSecond));
  EXPECT_THAT(findings.front().tensors, ElementsAre("b"));
}

TEST(CheckIndex, ACutShardIsNotAlsoAWrongIndex) {
  const TwoShards folder;
  const std::string whole = weights({{"b"}});
  folder.put(kSecond, whole.substr(0, whole.size() - 3));
  EXPECT_THAT(folder.say(), ElementsAre("error safetensors.truncated " + kSecond));
}

TEST(CheckIndex, EachFaultOfTheFileHasItsName) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "index.not_json"},
      {"{\"metadata\":", "index.not_json"},
      {"[]", "index.not_json"},
      {"\xEF\xBB\xBF" + index_of({{"a", kFirst}, {"b", kSecond}}), "index.not_json"},
      {R"({"metadata":{}})", "index.key_missing"},
      {R"({"weight_map":{"a":")" + kFirst + R"(","b":")" + kSecond + "\"}}", "index.key_missing"},
      {index_of({{"a", kFirst}, {"b", kSecond}}, "[]"), "index.malformed"},
      {index_of({{"a", kFirst}, {"b", kSecond}, {"c", "/etc/passwd"}}), "index.unsafe_name"},
      {index_of({{"a", kFirst}}), "index.omits_tensor"},
      {index_of({{"a", kFirst}, {"b", kSecond}, {"c", kFirst}}), "index.names_missing_tensor"},
      {index_of({{"a", kFirst}, {"b", kFirst}}), "index.wrong_shard"},
  };
  for (const auto& [index, code] : cases) {
    const TwoShards folder("-");
    folder.put(kIndex, index);
    EXPECT_THAT(folder.say(), ElementsAre("error " + code + " " + kIndex)) << index;
  }
}

TEST(CheckIndex, AWrongTotalIsANote) {
  const Report report = TwoShards(index_of({{"a", kFirst}, {"b", kSecond}}, R"({"total_size":15})")).diagnose();
  EXPECT_THAT(said(report.findings), ElementsAre("note index.total_size " + std::string(kIndex)));
  EXPECT_THAT(report.findings.front().message, HasSubstr("15 bytes, the tensors have 16"));
  EXPECT_EQ(report.verdict, Verdict::whole);
}

TEST(CheckShards, ASetWithoutAnIndexIsIncomplete) {
  const Report report = TwoShards("").diagnose();
  EXPECT_THAT(said(report.findings), ElementsAre("error index.missing " + std::string(kIndex)));
  EXPECT_EQ(report.verdict, Verdict::incomplete);
  EXPECT_THAT(report.findings.front().command, HasSubstr("vouchfs index"));
}

TEST(CheckShards, AGapIsNamedByNumber) {
  const ScratchFolder folder;
  for (const int number : {1, 2, 4, 6}) folder.put("model-0000" + std::to_string(number) + "-of-00006.safetensors", weights({{"t" + std::to_string(number)}}));
  const auto findings = folder.diagnose().findings;
  ASSERT_THAT(said(findings), ElementsAre("error shards.gap model-00003-of-00006.safetensors"));
  EXPECT_THAT(findings.front().message, HasSubstr("2 shards are missing by the numbers: 3, 5"));
}

TEST(CheckShards, AShardThatCannotBeReachedIsNoGap) {
  const TwoShards folder("");
  stdfs::remove(folder.path(kSecond));
  folder.link(kSecond, "../blobs/gone");
  EXPECT_THAT(folder.say(), ElementsAre("error link.dangling " + kSecond, "error index.missing " + std::string(kIndex)));
}

TEST(CheckShards, IndependentFilesAreNoSet) {
  const ScratchFolder folder;
  folder.put("style-a.safetensors", weights({{"a"}}));
  folder.put("style-b.safetensors", weights({{"a"}}));
  EXPECT_THAT(said(folder.diagnose().findings), IsEmpty());
}

TEST(CheckShards, FilesWithoutCountsAreASetWhenOnlyNumbersTellThemApart) {
  const ScratchFolder folder;
  folder.put("config.json", "{}");
  folder.put("voices.safetensors", weights({{"a"}}));
  folder.put("speech.safetensors", weights({{"b"}}));
  EXPECT_THAT(said(folder.diagnose().findings), IsEmpty());
  const ScratchFolder set;
  set.put("config.json", "{}");
  set.put("layers-1.safetensors", weights({{"a"}}));
  set.put("layers-22.safetensors", weights({{"b"}}));
  EXPECT_THAT(said(set.diagnose().findings), ElementsAre("error index.missing " + std::string(kIndex)));
}

TEST(CheckLayouts, TheSameTensorsTwiceAreAWarningAndOthersANote) {
  const TwoShards folder;
  folder.put("consolidated.safetensors", weights({{"x"}}));
  EXPECT_THAT(folder.say(), ElementsAre("note layout.consolidated consolidated.safetensors"));
  folder.put("consolidated.safetensors", weights({{"a"}, {"b"}}));
  const auto findings = folder.diagnose().findings;
  ASSERT_THAT(said(findings), ElementsAre("warning layout.duplicate_tensors consolidated.safetensors"));
  EXPECT_THAT(findings.front().tensors, ElementsAre("a", "b"));
}

TEST(CheckLayouts, AVariantBesideTheModelIsNoDuplicate) {
  const ScratchFolder folder;
  folder.put("config.json", "{}");
  folder.put("model.safetensors", weights({{"a"}}));
  folder.put("model.fp16.safetensors", weights({{"a"}}));
  EXPECT_THAT(said(folder.diagnose().findings), IsEmpty());
  stdfs::remove(folder.path("model.safetensors"));
  EXPECT_THAT(said(folder.diagnose().findings), ElementsAre("note variant.only model.fp16.safetensors"));
}

TEST(CheckLayouts, AnIndexOfAnotherKindWithoutItsFiles) {
  const std::string bins = index_of({{"a", "pytorch_model-00001-of-00001.bin"}});
  const TwoShards two;
  two.put("pytorch_model.bin.index.json", bins);
  EXPECT_THAT(two.say(), ElementsAre("error index.two_kinds pytorch_model.bin.index.json"));
  const ScratchFolder single;  // a download that left the other kind out: readers find model.safetensors
  single.put("model.safetensors", weights({{"a"}}));
  single.put("pytorch_model.bin.index.json", bins);
  EXPECT_THAT(said(single.diagnose().findings), ElementsAre("note index.two_kinds pytorch_model.bin.index.json"));
}

TEST(CheckAdapter, AloneItNamesItsBaseModel) {
  const ScratchFolder folder;
  folder.put("adapter_model.safetensors", weights({{"lora_A"}}));
  folder.put("adapter_config.json", R"({"base_model_name_or_path":"org/base"})");
  const auto findings = folder.diagnose().findings;
  ASSERT_THAT(said(findings), ElementsAre("note adapter.only adapter_model.safetensors"));
  EXPECT_THAT(findings.front().message, HasSubstr("org/base"));
  folder.put("model.safetensors", weights({{"a"}}));
  EXPECT_THAT(said(folder.diagnose().findings), IsEmpty());
}

struct Configured : ScratchFolder {
  Configured(const std::string& config, const std::vector<Row>& rows) {
    put("config.json", config);
    put("model.safetensors", weights(rows));
  }
  std::vector<std::string> say() const { return said(diagnose().findings); }
};

TEST(CheckConfig, EmptyTensorsAreAFaultOnlyWhereTheConfigGivesThemASize) {
  EXPECT_THAT(Configured(R"({"hidden_size":8})", {{"w.weight", 0}, {"n.weight"}}).say(), ElementsAre("error model.empty_tensors model.safetensors"));
  EXPECT_THAT(Configured(R"({"model_type":"x"})", {{"w.weight", 0}, {"n.weight"}}).say(), IsEmpty());
  EXPECT_THAT(Configured(R"({"hidden_size":8})", {{"cache", 0}, {"n.weight"}}).say(), IsEmpty());
}

TEST(CheckConfig, LayersThatAreNowhere) {
  const std::vector<Row> rows = {{"model.layers.0.w"}, {"model.layers.1.w"}};
  const Report report = Configured(R"({"num_hidden_layers":4})", rows).diagnose();
  ASSERT_THAT(said(report.findings), ElementsAre("error model.layers_missing "));
  EXPECT_THAT(report.findings.front().message, HasSubstr("layers 2, 3 "));
  EXPECT_THAT(Configured(R"({"num_hidden_layers":2})", rows).say(), IsEmpty());
  EXPECT_THAT(Configured(R"({"num_hidden_layers":1})", rows).say(), IsEmpty());                              // one more for prediction of further tokens
  EXPECT_THAT(Configured(R"({"num_hidden_layers":12})", {{"albert.encoder.groups.0.w"}}).say(), IsEmpty());  // layers that share their weights
  const Configured adapter(R"({"num_hidden_layers":4})", rows);
  stdfs::rename(adapter.path("model.safetensors"), adapter.path("adapter_model.safetensors"));
  EXPECT_THAT(adapter.say(), ElementsAre("note adapter.only adapter_model.safetensors"));
  EXPECT_THAT(Configured(R"({"text_config":{"num_hidden_layers":3}})", rows).say(), ElementsAre("error model.layers_missing "));
}

TEST(CheckConfig, AConfigurationWithoutWeightsIsIncomplete) {
  const ScratchFolder folder;
  folder.put("config.json", R"({"model_type":"bert"})");
  const Report report = folder.diagnose();
  EXPECT_THAT(said(report.findings), ElementsAre("error model.no_weights "));
  EXPECT_EQ(report.verdict, Verdict::incomplete);
}

TEST(Diagnose, ALinkToNothingIsToldWhenItIsNamedItself) {
  const ScratchFolder folder;
  folder.link("model.safetensors", "../../blobs/gone");
  folder.link("loop.safetensors", "loop.safetensors");
  EXPECT_THAT(said(folder.diagnose("model.safetensors").findings), ElementsAre("error link.dangling model.safetensors"));
  EXPECT_THAT(said(folder.diagnose("loop.safetensors").findings), ElementsAre("error link.loop loop.safetensors"));
}

// A pipeline of diffusers: weights in unet/, a scheduler, a tokenizer, and what is no component at all.
struct Pipeline : ScratchFolder {
  Pipeline() {
    put("model_index.json", R"({"_class_name":"SomePipeline","_parts":["a","B"],"feature_extractor":[null,null],"force_zeros":true,"sizes":[1,2],
                                "scheduler":["diffusers","PNDMScheduler"],"tokenizer":["transformers","CLIPTokenizer"],"unet":["diffusers","UNet2DConditionModel"]})");
    put("unet/config.json", R"({"_class_name":"UNet2DConditionModel"})");
    put("unet/diffusion_pytorch_model.safetensors", weights({{"a"}}));
    put("scheduler/scheduler_config.json", "{}");
    put("tokenizer/vocab.json", "{}");
    put("tokenizer/config.json", "{}");
  }
  std::vector<std::string> say() const { return said(diagnose().findings); }
  void lose(const std::string& name) const { stdfs::remove_all(path(name)); }
};

TEST(CheckPipeline, OneWithAllItsComponentsIsSilent) { EXPECT_THAT(Pipeline().say(), IsEmpty()); }

TEST(CheckPipeline, AComponentWithoutFolderIsMissing) {
  for (const std::string name : {"unet", "scheduler", "tokenizer"}) {
    const Pipeline folder;
    folder.lose(name);
    const Report report = folder.diagnose();
    ASSERT_THAT(said(report.findings), ElementsAre("error pipeline.component_missing model_index.json")) << name;
    EXPECT_THAT(report.findings.front().message, HasSubstr("1 component whose folder is not here or has no file: " + name + " ("));
    EXPECT_EQ(report.verdict, Verdict::incomplete);
    stdfs::create_directory(folder.path(name));
    EXPECT_THAT(folder.say(), ElementsAre("error pipeline.component_missing model_index.json")) << name;
  }
}

TEST(CheckPipeline, SeveralMissingComponentsAreOneFinding) {
  const Pipeline folder;
  folder.lose("unet");
  folder.lose("scheduler");
  const auto findings = folder.diagnose().findings;
  ASSERT_THAT(said(findings), ElementsAre("error pipeline.component_missing model_index.json"));
  EXPECT_THAT(findings.front().message, HasSubstr("scheduler (PNDMScheduler), unet (UNet2DConditionModel)"));
}

TEST(CheckPipeline, AComponentWithItsConfigurationAloneLacksItsWeights) {
  const Pipeline folder;
  folder.lose("unet/diffusion_pytorch_model.safetensors");
  const Report report = folder.diagnose();
  ASSERT_THAT(said(report.findings), ElementsAre("error model.no_weights unet"));
  EXPECT_EQ(report.verdict, Verdict::incomplete);
  folder.put("unet/diffusion_pytorch_model.safetensors.part", "12345678");
  EXPECT_THAT(folder.say(), ElementsAre("error file.unfinished_download unet/diffusion_pytorch_model.safetensors.part"));
  for (const char* other : {"model.onnx", "openvino_model.bin", "flax_model.msgpack"}) {
    const Pipeline engine;
    engine.lose("unet/diffusion_pytorch_model.safetensors");
    engine.put(std::string("unet/") + other, "\x08\x07weights of another engine");
    EXPECT_THAT(engine.say(), IsEmpty()) << other;
  }
}

TEST(CheckPipeline, WhatHasItsOwnFindingIsNotAlsoAMissingComponent) {
  const Pipeline dangling;
  dangling.lose("unet/diffusion_pytorch_model.safetensors");
  dangling.link("unet/diffusion_pytorch_model.safetensors", "../nowhere");
  EXPECT_THAT(dangling.say(), ElementsAre("error link.dangling unet/diffusion_pytorch_model.safetensors"));
  const Pipeline indexed;
  indexed.lose("unet/diffusion_pytorch_model.safetensors");
  indexed.put("unet/diffusion_pytorch_model.safetensors.index.json", index_of({{"a", "only.safetensors"}}));
  EXPECT_THAT(indexed.say(), ElementsAre("error index.names_missing_shard unet/only.safetensors"));
  const Pipeline folder_link;
  folder_link.lose("unet");
  folder_link.link("unet", "nowhere");
  EXPECT_THAT(folder_link.say(), ElementsAre("error link.dangling unet"));
}

TEST(CheckPipeline, FilesBesideTheListServeInPlaceOfAFolder) {
  const ScratchFolder flat;
  flat.put("model_index.json", R"({"_class_name":"DDPMPipeline","scheduler":["diffusers","DDPMScheduler"],"unet":["diffusers","UNet2DModel"]})");
  flat.put("config.json", R"({"_class_name":"UNet2DModel"})");
  flat.put("diffusion_pytorch_model.safetensors", weights({{"a"}}));
  EXPECT_THAT(said(flat.diagnose().findings), ElementsAre("error pipeline.component_missing model_index.json"));
  flat.put("scheduler_config.json", "{}");
  EXPECT_THAT(said(flat.diagnose().findings), IsEmpty());
}

TEST(CheckPipeline, AListThatIsNoneOrLeadsElsewhereNamesNothing) {
  for (const char* text : {"[]", "7", R"({"..":["a","B"],"a/b":["a","B"],"":["a","B"],"x":["a"],"y":[1,"B"],"z":["a",null]})"}) {
    const Pipeline folder;
    folder.put("model_index.json", text);
    EXPECT_THAT(folder.say(), IsEmpty()) << text;
  }
}

TEST(Diagnose, TheWorstVerdictWinsAndStandsFirst) {
  const TwoShards folder;
  stdfs::remove(folder.path(kSecond));
  folder.put("config.json", "{");
  folder.put("extra.safetensors", "<html><title>no</title>");
  const Report report = folder.diagnose();
  EXPECT_THAT(said(report.findings),
              ElementsAre("error content.web_page extra.safetensors", "error json.broken config.json", "error index.names_missing_shard " + kSecond));
  EXPECT_EQ(report.verdict, Verdict::unusable);
  EXPECT_EQ(report.errors, 3U);
  EXPECT_EQ(report.files, 4U);
}

TEST(Diagnose, WhatIsNotThereIsAnError) {
  DeepProgress progress;
  const CancelFlag cancel;
  const ScratchFolder folder;
  const auto report = diagnose(folder.path("nothing"), {}, hash::make_openssl_engine(), progress, cancel);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::not_found);
}

TEST(Diagnose, ModelsBelowAFolderHaveTheirPlaceInFindings) {
  const ScratchFolder folder;
  folder.put("one/model.safetensors", weights({{"a"}}));
  folder.put("two/model.safetensors", "");
  const Report report = folder.diagnose();
  EXPECT_EQ(report.models, 2U);
  EXPECT_THAT(said(report.findings), ElementsAre("error file.empty two/model.safetensors"));
}

TEST(ToText, BeginsNoLineWithACommandToACiServer) {
  Report report;
  Finding& finding = report.findings.emplace_back();
  finding.code = "index.malformed";
  finding.message = "a long sentence";
  for (int i = 0; i < 40; ++i) finding.message += " about a tensor ::stop-commands::" + std::string(static_cast<std::size_t>(i), 'x');
  EXPECT_THAT(to_text(report, 60), testing::Not(testing::ContainsRegex("\n *::")));
}

TEST(ToText, GroupsEqualNotesAndEndsWithTheVerdict) {
  const ScratchFolder folder;
  for (int i = 0; i < 5; ++i)
    folder.put("lora" + std::to_string(i) + ".safetensors", formats::test::file_of(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}   )", "1"));
  folder.put("bad.safetensors", "Entry not found");
  Report report = folder.diagnose();
  report.path = "models/x";
  const std::string text = to_text(report, 80);
  EXPECT_THAT(text, testing::StartsWith("error: content.error_text  bad.safetensors\n"));
  EXPECT_THAT(text, HasSubstr("note: safetensors.no_format  lora0.safetensors (and 4 more files)\n"));
  EXPECT_THAT(text, testing::EndsWith("verdict: unusable: 1 error, 0 warnings, 5 notes in 6 files, 340 B\n"));
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) EXPECT_LE(end - at, 100U) << text.substr(at, end - at);
}

}  // namespace
}  // namespace vouchfs::doctor
