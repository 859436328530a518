// model_index.json of a diffusers pipeline against the folders of its components: one that is absent, or has its configuration and no weights.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "doctor/file_names.h"
#include "formats/shown_name.h"

namespace vouchfs::doctor {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxPipelineBytes = 1ULL << 20;  // real ones have 1 to 3 KiB

struct Component {
  std::string folder;  // relative to the model
  std::string name;
  std::string library;
  std::string class_name;
};

json read_json(const FileFacts& file) {
  const auto read = open_reader(file);
  if (!read || file.bytes > kMaxPipelineBytes) return {};
  std::string text(static_cast<std::size_t>(file.bytes), '\0');
  const auto got = (*read)(0, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
  return got ? json::parse(text.substr(0, *got), nullptr, false) : json();
}

// A component is "name": [library, class]; [null, null] is one that the pipeline does without, all else are settings.
bool is_component(const std::string& name, const json& value) {
  if (name.empty() || name.front() == '_' || name.front() == '.' || name.find('/') != std::string::npos) return false;
  return value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string();
}

std::vector<Component> components_of(const FileFacts& index) {
  std::vector<Component> components;
  const json pipeline = read_json(index);
  if (!pipeline.is_object()) return components;
  for (const auto& [name, value] : pipeline.items())
    if (is_component(name, value))
      components.push_back({join_path(folder_of(index.path), name), name, value[0].get<std::string>(), value[1].get<std::string>()});
  return components;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

bool is_scheduler(const Component& component) { return has_any(component.class_name, {"Scheduler"}); }
bool is_tokenizer(const Component& component) { return has_any(component.class_name, {"Tokenizer"}); }
bool is_processor(const Component& component) { return has_any(component.class_name, {"Processor", "FeatureExtractor"}); }

bool is_hit(const std::string& path, const std::string& folder) {
  return path == folder || (path.size() > folder.size() && path[folder.size()] == '/' && path.compare(0, folder.size(), folder) == 0);
}

// Files below a folder stand together, as all are sorted by path.
std::vector<const FileFacts*> files_below(const ModelFacts& model, const std::string& folder) {
  const std::string start = folder + "/";
  auto at = std::lower_bound(model.files.begin(), model.files.end(), start, [](const FileFacts& file, const std::string& path) { return file.path < path; });
  std::vector<const FileFacts*> files;
  for (; at != model.files.end() && at->path.starts_with(start); ++at) files.push_back(&*at);
  return files;
}

// Pipelines of one model, and old ones, keep the files of a component beside model_index.json, and diffusers looks there when the folder is absent.
bool is_beside(const ModelFacts& model, const std::string& folder, const Component& component) {
  const auto has = [&](const char* name) { return model.find(join_path(folder, name)) != nullptr; };
  if (is_scheduler(component)) return has("scheduler_config.json");
  if (is_tokenizer(component)) return has("tokenizer_config.json") || has("tokenizer.json") || has("vocab.json");
  if (is_processor(component)) return has("preprocessor_config.json") || has("processor_config.json");
  return has("config.json");
}

// Who has said already why something of this folder is not here: a link to nothing, a mode, a file that the publisher's listing names.
bool is_explained(const ModelFacts& model, const Component& component, const Findings& findings) {
  const std::string shown = model.shown_path(component.folder);
  return model.find(component.folder) != nullptr ||
         std::any_of(model.folder_trouble.begin(), model.folder_trouble.end(),
                     [&](const FolderTrouble& trouble) { return is_hit(trouble.path, component.folder); }) ||
         std::any_of(findings.all().begin(), findings.all().end(),
                     [&](const Finding& finding) { return finding.severity == Severity::error && is_hit(finding.file, shown); });
}

bool is_no_weights(const FileFacts* file) {
  static constexpr std::array<std::string_view, 6> kEndings = {".json", ".txt", ".md", ".py", ".yaml", ".gitattributes"};
  if (file->index || is_partial_name(base_name(file->path))) return !file->index;
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return file->path.ends_with(ending); });
}

bool lacks_weights(const Component& component, const std::vector<const FileFacts*>& files) {
  if (is_scheduler(component) || is_tokenizer(component) || is_processor(component)) return false;
  const bool configured = std::any_of(files.begin(), files.end(), [&](const FileFacts* file) { return file->path == component.folder + "/config.json"; });
  return configured && std::all_of(files.begin(), files.end(), is_no_weights);
}

// The files of one component; of several at once every command line tool of the hub in use would take another form.
std::string fetch_folder(const ModelFacts& model, const std::string& folder) {
  const std::string command = fetch_command(model, "");
  return command.empty() || folder.empty() ? command : command + " --include " + shell_word(folder + "/*");
}

void say_no_weights(const ModelFacts& model, const Component& component, Findings& findings) {
  Finding finding = about(model, component.folder, "model.no_weights");
  finding.message =
      "model_index.json names this component (" + formats::shown_name(component.class_name) + "), its config.json is here, and no weight file or index";
  if (component.library == "diffusers") finding.loader = {"OSError: Error no file named diffusion_pytorch_model.bin found in directory"};
  finding.command = fetch_folder(model, component.folder);
  findings.add(std::move(finding));
}

void say_missing(const ModelFacts& model, const FileFacts& index, const std::vector<Component>& missing, Findings& findings) {
  std::vector<std::string> names;
  for (const Component& component : missing) names.push_back(component.name + " (" + component.class_name + ")");
  Finding finding = about(model, index.path, "pipeline.component_missing");
  finding.message = "the pipeline names " + count_text(missing.size(), "component") + " whose folder is not here or has no file: " + list_text(names);
  finding.command = fetch_folder(model, missing.size() == 1 ? missing.front().folder : "");
  findings.add(std::move(finding));
}

void check_one(const ModelFacts& model, const FileFacts& index, Findings& findings) {
  std::vector<Component> missing;
  std::vector<Component> bare;
  for (Component& component : components_of(index)) {
    const auto files = files_below(model, component.folder);
    if (files.empty() ? is_beside(model, folder_of(index.path), component) : !lacks_weights(component, files)) continue;
    if (!is_explained(model, component, findings)) (files.empty() ? missing : bare).push_back(std::move(component));
  }
  for (const Component& component : bare) say_no_weights(model, component, findings);
  if (!missing.empty()) say_missing(model, index, missing, findings);
}

}  // namespace

void check_pipeline(const ModelFacts& model, Findings& findings) {
  if (model.single_file) return;
  for (const FileFacts& file : model.files)
    if (base_name(file.path) == "model_index.json" && file.presence == Presence::readable && !file.pointer) check_one(model, file, findings);
}

}  // namespace vouchfs::doctor
