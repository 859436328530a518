// Codes about how the files of a model fit together: indexes, shards, layouts, adapters, configuration.
#include "doctor/codes.h"

namespace vouchfs::doctor {
namespace {

constexpr Severity kError = Severity::error;
constexpr Severity kWarning = Severity::warning;
constexpr Severity kNote = Severity::note;
constexpr Verdict kDamaged = Verdict::damaged;
constexpr Verdict kIncomplete = Verdict::incomplete;
constexpr Verdict kWhole = Verdict::whole;
constexpr std::string_view kNoFile = "No such file or directory";
constexpr std::string_view kRewrite = "write the index again from the headers, or let a view serve the right one";

// NOLINTNEXTLINE(readability-function-size): a table, one row a code
std::vector<CodeFacts> codes_of_indexes() {
  return {
      {"index.missing",
       kError,
       kIncomplete,
       "shards without an index",
       {"Error no file named model.safetensors, or pytorch_model.bin, found in directory"},
       "write the index from the headers, or let a view supply it"},
      {"index.not_json",
       kError,
       kDamaged,
       "the index is no JSON",
       {"json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "json.decoder.JSONDecodeError: Unexpected UTF-8 BOM (decode using utf-8-sig)"},
       kRewrite},
      {"index.key_missing", kError, kDamaged, "the index lacks a key that readers need", {"KeyError: 'metadata'", "KeyError: 'weight_map'"}, kRewrite},
      {"index.malformed", kError, kDamaged, "entries of the index are of the wrong type", {"TypeError"}, kRewrite},
      {"index.unsafe_name", kError, kDamaged, "the index names a file outside the folder", {}, "do not load it; ask the publisher, or write the index again"},
      {"index.wrong_shard",
       kError,
       kDamaged,
       "the index gives tensors to the wrong shard",
       {"safetensors_rust.SafetensorError: File does not contain tensor"},
       kRewrite},
      {"index.omits_tensor",
       kError,
       kDamaged,
       "shards hold tensors that the index leaves out",
       {"Some weights of the model checkpoint were not initialized: newly initialized"},
       kRewrite},
      {"index.names_missing_tensor",
       kError,
       kDamaged,
       "the index names tensors that no shard holds",
       {"safetensors_rust.SafetensorError: File does not contain tensor"},
       "fetch the shard again if its size or digest is not the publisher's; else write the index again"},
      {"index.names_missing_shard",
       kError,
       kIncomplete,
       "a shard that the index names is not there",
       {kNoFile, "does not appear to have a file named"},
       "fetch the shard"},
      {"index.total_size",
       kNote,
       kWhole,
       "metadata.total_size is not the bytes of the tensors",
       {},
       "nothing: readers hardly use it; a view serves the right number"},
      {"index.two_kinds",
       kError,
       kDamaged,
       "two kinds of index side by side",
       {"ValueError: ... contains more than one .index.json file"},
       "nothing for readers that ask by name; remove the kind that is not wanted if one refuses"},
  };
}

// NOLINTNEXTLINE(readability-function-size): a table, one row a code
std::vector<CodeFacts> layout_codes() {
  return {
      {"shards.gap",
       kError,
       kIncomplete,
       "numbered shards with a number missing",
       {"Some weights of the model were not initialized", kNoFile},
       "fetch the files named"},
      {"shards.unusual_names", kNote, kWhole, "shards with unusual names, all listed in the index", {}, "nothing: readers that use the index find them"},
      {"layout.duplicate_tensors",
       kWarning,
       kWhole,
       "the same tensors in two files",
       {"RuntimeError: Key ... was already loaded", "Duplicate tensor"},
       "remove or hide the files that are not wanted; readers that take every file load both"},
      {"layout.consolidated",
       kNote,
       kWhole,
       "two layouts of weights with different tensor names",
       {},
       "nothing: readers pick one by its names (vLLM: --load-format mistral or safetensors)"},
      {"variant.only",
       kNote,
       kWhole,
       "only a variant is here",
       {"Error no file named model.safetensors found in directory"},
       "ask for the variant by its name"},
      {"adapter.only",
       kNote,
       kWhole,
       "an adapter, to be loaded onto its base model",
       {"Error no file named model.safetensors, or pytorch_model.bin, found in directory"},
       "load the base model first, then the adapter"},
      {"adapter.empty", kWarning, kWhole, "an adapter without tensors: it changes nothing", {}, "save the adapter again"},
      {"model.no_weights",
       kError,
       kIncomplete,
       "a configuration without weights",
       {"Error no file named model.safetensors, or pytorch_model.bin, found in directory"},
       "fetch the weights"},
      {"pipeline.component_missing",
       kError,
       kIncomplete,
       "model_index.json names a component that is not there",
       {"OSError: Error no file named config.json found in directory", "Error no file named scheduler_config.json found in directory"},
       "fetch the folder of the component; one that the pipeline may do without can also be given as None when it is loaded"},
      {"model.empty_tensors",
       kError,
       kDamaged,
       "tensors that hold nothing, though the config gives them a size",
       {"size mismatch for ...: copying a param with shape torch.Size([0]) from checkpoint", "you set `ignore_mismatched_sizes` to `False`"},
       "gather the parameters and save again (DeepSpeed ZeRO-3: stage3_gather_16bit_weights_on_model_save, or zero_to_fp32.py)"},
      {"model.layers_missing",
       kError,
       kIncomplete,
       "the config says more layers than the tensors have",
       {"Some weights of the model were not initialized"},
       "fetch the model again, or correct num_hidden_layers"},
  };
}

}  // namespace

std::span<const CodeFacts> index_codes() {
  static const std::vector<CodeFacts> codes = [] {
    std::vector<CodeFacts> all = codes_of_indexes();
    for (CodeFacts& facts : layout_codes()) all.push_back(std::move(facts));
    return all;
  }();
  return codes;
}

}  // namespace vouchfs::doctor
