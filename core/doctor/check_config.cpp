// config.json against the tensors: saves that left their tensors empty, layers that are nowhere, a configuration without weights.
#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "doctor/file_names.h"
#include "doctor/index_view.h"

namespace vouchfs::doctor {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostLayers = 10'000;  // the largest model has some hundreds

// A positive number of the configuration, or of the language part of a multimodal one; 0 when there is none.
std::uint64_t number_of(const json& config, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (config.contains(key) && config[key].is_number_unsigned()) return config[key].get<std::uint64_t>();
    if (!config.contains("text_config") || !config["text_config"].is_object()) continue;
    const json& text = config["text_config"];
    if (text.contains(key) && text[key].is_number_unsigned()) return text[key].get<std::uint64_t>();
  }
  return 0;
}

bool is_parameter(const std::string& name) { return name.ends_with(".weight") || name.ends_with(".bias"); }

// A partitioned save (DeepSpeed ZeRO-3) leaves tensors of shape [0] in place of parameters.
void check_empty_tensors(const ModelFacts& model, const json& config, Findings& findings) {
  if (number_of(config, {"hidden_size", "n_embd", "d_model", "dim", "n_embed"}) == 0) return;
  for (const FileFacts& file : model.files) {
    const auto* tensors = file.tensors();
    if (tensors == nullptr || !file.is_weights) continue;
    Finding finding = about(model, file.path, "model.empty_tensors");
    for (const formats::Tensor& tensor : *tensors)
      if (tensor.shape.size() == 1 && tensor.shape[0] == 0 && is_parameter(tensor.name)) finding.tensors.push_back(tensor.name);
    if (finding.tensors.empty()) continue;
    finding.message = std::to_string(finding.tensors.size()) + " of " + count_text(tensors->size(), "tensor") +
                      " have the shape [0], though config.json gives the model a size: a partitioned save (ZeRO-3) that did not gather its parameters";
    findings.add(std::move(finding));
  }
}

// "model.layers." -> the numbers behind it. Only prefixes of decoder and encoder stacks that have one entry a layer.
std::map<std::string, std::set<std::uint64_t>> layers_of(const ModelFacts& model) {
  static constexpr std::array<std::string_view, 8> kStacks = {
      "layers.", "h.", "encoder.layer.", "blocks.", "transformer.h.", "decoder.layers.", "gpt_neox.layers.", "backbone.layers."};
  std::map<std::string, std::set<std::uint64_t>> stacks;
  for (const FileFacts& file : model.files) {
    if (file.path.find('/') != std::string::npos || !file.is_weights || is_adapter_name(file.path)) continue;
    for (const std::string& name : tensor_names(file)) {
      for (const std::string_view stack : kStacks) {
        const auto at = name.find(stack);
        if (at == std::string::npos || (at != 0 && name[at - 1] != '.')) continue;
        const std::size_t start = at + stack.size();
        const std::size_t end = name.find_first_not_of("0123456789", start);
        if (end == std::string::npos || end == start || name[end] != '.' || end - start > 5) continue;
        stacks[name.substr(0, start)].insert(std::stoull(name.substr(start, end - start)));
        break;
      }
    }
  }
  return stacks;
}

std::vector<std::string> missing_layers(const std::set<std::uint64_t>& there, std::uint64_t wanted) {
  std::vector<std::string> missing;
  for (std::uint64_t layer = 0; layer < wanted; ++layer)
    if (there.count(layer) == 0) missing.push_back(std::to_string(layer));
  return missing;
}

bool says_what_is_missing(const Finding& finding) { return finding.severity == Severity::error; }

// Said only when nothing else is wrong: a shard that is absent or lacks tensors has its own finding, and is the cause.
void check_layers(const ModelFacts& model, const json& config, Findings& findings) {
  const std::uint64_t wanted = number_of(config, {"num_hidden_layers", "n_layer", "num_layers", "n_layers"});
  if (wanted == 0 || wanted > kMostLayers || std::any_of(findings.all().begin(), findings.all().end(), says_what_is_missing)) return;
  const auto stacks = layers_of(model);
  const auto longest = std::max_element(stacks.begin(), stacks.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (longest == stacks.end() || longest->second.size() >= wanted) return;
  const std::vector<std::string> missing = missing_layers(longest->second, wanted);
  if (missing.empty()) return;
  Finding finding = about(model, "", "model.layers_missing");
  finding.message = "config.json says " + std::to_string(wanted) + " layers, the tensors have " + std::to_string(longest->second.size()) + " (" +
                    longest->first + "N): layers " + list_text(missing, 8) + " are in no shard and no index, so they were never in this model";
  findings.add(std::move(finding));
}

bool is_any_weights(const FileFacts& file) {
  for (const char* end : {".safetensors", ".bin", ".gguf", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx", ".npz", ".tflite", ".flashpack", ".dduf", ".ot"})
    if (file.path.ends_with(end)) return true;
  return file.is_weights || file.index.has_value();
}

void check_any_weights(const ModelFacts& model, const json& config, Findings& findings) {
  const bool is_model = config.contains("model_type") || config.contains("architectures") || config.contains("_class_name");
  if (!is_model || model.find("adapter_config.json") != nullptr || std::any_of(model.files.begin(), model.files.end(), is_any_weights)) return;
  Finding finding = about(model, "", "model.no_weights");
  finding.message = "config.json describes a model, and no weight file or index is here";
  finding.command = fetch_command(model, "");
  findings.add(std::move(finding));
}

}  // namespace

void check_config(const ModelFacts& model, Findings& findings) {
  if (!model.config || model.single_file) return;
  const json config = json::parse(*model.config, nullptr, false);
  if (!config.is_object()) return;
  check_empty_tensors(model, config, findings);
  check_layers(model, config, findings);
  check_any_weights(model, config, findings);
}

}  // namespace vouchfs::doctor
