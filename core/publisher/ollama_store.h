// ollama_store.h: where the models of an Ollama store lie, and under which names a view shows their blobs.
// Layer:  core/publisher (4).
// Source: Ollama (types/model names, manifests/<host>/<namespace>/<model>/<tag>, blobs/sha256-<hex>, formerly sha256:<hex>).
// Trust:  a manifest is untrusted: no name of it leads out of the model, and blobs are named by hex digits alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/store_files.h"

namespace vouchfs::publisher {

struct OllamaName {
  std::string host;
  std::string name_space;
  std::string model;
  std::string tag;
  // "<host>/<namespace>/<model>/<tag>": below manifests/ and below the folder of seals.
  std::string path() const { return host + "/" + name_space + "/" + model + "/" + tag; }
};

// "llama3", "llama3:8b", "ns/name:tag", "host/ns/name:tag"; what is left out is registry.ollama.ai, library and latest.
// Fails: invalid_argument.
Result<OllamaName> parse_ollama_name(const std::string& text);

// Stores to look in, best first: OLLAMA_MODELS alone when it is set, else ~/.ollama/models and /usr/share/ollama/.ollama/models.
std::vector<std::string> ollama_stores();

// A layer and the name a view gives it.
struct NamedLayer {
  std::string path;
  formats::OllamaLayer layer;
};
// Sorted by path, no path twice, none a folder of another. Fails: bad_format for a name that is no path inside a model, or that collides.
Result<std::vector<NamedLayer>> name_layers(const formats::OllamaManifest& manifest);

// store_dir/manifest, read and named. Fails: not_found, io, bad_format; names the manifest.
Result<std::vector<NamedLayer>> read_ollama_layers(const std::string& store_dir, const std::string& manifest);

// The blob of this digest in the folder of blobs: "sha256-<hex>", or "sha256:<hex>" when only that is there.
std::string blob_name(const std::string& blobs_dir, const std::string& sha256);

}  // namespace vouchfs::publisher
