// Adapters: alone they are no model, and one without tensors changes nothing.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "doctor/file_names.h"
#include "formats/shown_name.h"

namespace vouchfs::doctor {
namespace {

std::string base_model(const ModelFacts& model) {
  if (!model.adapter_config) return {};
  const nlohmann::json config = nlohmann::json::parse(*model.adapter_config, nullptr, false);
  if (!config.is_object() || !config.contains("base_model_name_or_path")) return {};
  const nlohmann::json& name = config["base_model_name_or_path"];
  return name.is_string() ? name.get<std::string>() : std::string();
}

bool is_empty_adapter(const FileFacts& file) {
  return (file.safetensors && !file.safetensors->problem && file.safetensors->tensors.empty()) ||
         (file.torch && !file.torch->problem && file.torch->tensors.empty());
}

void say_empty(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  Finding finding = about(model, file.path, "adapter.empty");
  finding.message = "the adapter has no tensors: loading it changes nothing";
  findings.add(std::move(finding));
}

void say_only(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  const std::string base = base_model(model);
  Finding finding = about(model, file.path, "adapter.only");
  finding.message = "only an adapter is here, no model; " +
                    (base.empty() ? std::string("its adapter_config.json does not name its base model") : "its base model is " + formats::shown_name(base));
  findings.add(std::move(finding));
}

}  // namespace

void check_adapter(const ModelFacts& model, Findings& findings) {
  const FileFacts* adapter = nullptr;
  bool others = false;
  for (const FileFacts& file : model.files) {
    const bool is_adapter = is_adapter_name(base_name(file.path)) && file.path.find('/') == std::string::npos;
    others = others || (file.is_weights && !is_adapter);
    if (!is_adapter || !file.is_weights) continue;
    adapter = adapter == nullptr ? &file : adapter;
    if (is_empty_adapter(file)) say_empty(model, file, findings);
  }
  if (adapter != nullptr && !others && !model.single_file) say_only(model, *adapter, findings);
}

}  // namespace vouchfs::doctor
