// A model of an Ollama store: its manifest, and layers that are not there or not finished.
#include <algorithm>

#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "doctor/folder_list.h"
#include "doctor/ollama_partials.h"
#include "formats/store_files.h"
#include "publisher/ollama_store.h"

namespace vouchfs::doctor {
namespace {

std::string pull_command(const ModelFacts& model) { return "ollama pull " + shell_word(ollama_name(model.place.manifest)); }

void say_manifest(const ModelFacts& model, const std::string& text, const std::string& trouble, Findings& findings) {
  Finding finding;
  finding.code = "ollama.manifest_broken";
  // Of a store: what stands before "blobs".
  finding.file =
      (model.shown.empty() ? std::string() : model.shown.substr(0, model.shown.size() - base_name(model.place.model_dir).size())) + model.place.manifest;
  finding.offset = 0;
  finding.length = text.size();
  finding.message =
      text.empty()
          ? "the manifest of " + printable(ollama_name(model.place.manifest)) + " is empty (0 bytes): a crash or a full disk while it was written leaves that"
          : "the manifest of " + printable(ollama_name(model.place.manifest)) + " cannot be used (" + bytes_text(text.size()) + "): " + trouble;
  finding.loader = {text.empty() ? "Error: EOF" : "Error: unexpected end of JSON input"};
  finding.command = pull_command(model);
  findings.add(std::move(finding));
}

void say_layer(const ModelFacts& model, const publisher::NamedLayer& named, const OllamaPartial* partial, Findings& findings) {
  const formats::OllamaLayer& layer = named.layer;
  Finding finding = about(model, named.path, partial != nullptr ? "ollama.partial" : "ollama.layer_missing");
  const std::string what = "the layer of type " + printable(layer.media_type) + ", " + bytes_text(layer.bytes) + ", sha256:" + layer.sha256 + ", of " +
                           printable(ollama_name(model.place.manifest));
  finding.message = partial != nullptr ? what + " is not downloaded to its end: " + std::to_string(partial->there) + " of " + std::to_string(layer.bytes) +
                                             " bytes are there, in blobs/" + partial->name + " (reserved in full, so its size says nothing)"
                                       : what + " is missing";
  if (partial != nullptr && partial->there < layer.bytes) finding.length = layer.bytes - partial->there;
  finding.loader = {"Error: open blobs/sha256-" + layer.sha256 + ": no such file or directory"};
  finding.command = pull_command(model);
  findings.add(std::move(finding));
}

}  // namespace

void check_ollama(const ModelFacts& model, Findings& findings) {
  if (model.place.kind != publisher::PlaceKind::ollama) return;
  const std::string path = model.place.store_dir + "/" + model.place.manifest;
  const std::string text = read_small(path, formats::kMaxStoreFileBytes).value_or("");
  const auto layers = publisher::read_ollama_layers(model.place.store_dir, model.place.manifest);
  if (!layers) return say_manifest(model, text, layers.error().message, findings);
  const std::vector<OllamaPartial> partials = ollama_partials(model.place.model_dir);
  for (const publisher::NamedLayer& named : *layers) {
    if (is_there(model.place.model_dir + "/" + publisher::blob_name(model.place.model_dir, named.layer.sha256))) continue;
    const auto partial = std::find_if(partials.begin(), partials.end(), [&](const OllamaPartial& one) { return one.sha256 == named.layer.sha256; });
    say_layer(model, named, partial == partials.end() ? nullptr : &*partial, findings);
  }
}

}  // namespace vouchfs::doctor
