// place.h: what a MODEL argument means: a folder, a snapshot of a Hugging Face cache, a model of an Ollama store.
// Layer:  core/publisher (4). Looks at names and small store files; opens no weights.
// Source: huggingface_hub (refs, snapshots), Ollama (manifests, blobs; OLLAMA_MODELS, else ~/.ollama/models, else /usr/share/ollama/.ollama/models).
// Errors: not_found (no such model, revision or tag; says what is there), bad_format (an Ollama manifest that cannot be read),
//         invalid_argument (--revision with what has none; a revision or name that is no plain name).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace vouchfs::publisher {

// A file under another name than its own.
struct NamedFile {
  std::string path;    // relative to the model, as a view shows it: "model.gguf", "projector.gguf", "params.json"
  std::string source;  // relative to Place::model_dir: "sha256-<hex>"
};

enum class PlaceKind { folder, hf_snapshot, ollama };

struct Place {
  PlaceKind kind = PlaceKind::folder;
  std::string model_dir;         // where the files lie: the folder, the snapshot, or the blobs folder of an Ollama store
  std::string name;              // of the model, for events and views: the base name, "org--name", "llama3-8b"
  std::string default_seal_dir;  // MODEL/.vouch; of an Ollama model <store>/.vouch/<host>/<namespace>/<model>/<tag>
  std::vector<NamedFile> files;  // ollama only: every layer, sorted by path; else the files of model_dir are the model
  std::string revision;          // hf_snapshot: the commit
  std::string cache_dir;         // hf_snapshot: models--org--name
  std::string store_dir;         // ollama: the folder that holds manifests/ and blobs/
  std::string manifest;          // ollama: "manifests/<host>/<namespace>/<model>/<tag>", relative to store_dir
};

// A plain folder as a place, whatever it is called or holds.
Place folder_place(const std::string& model_dir);

// `revision`: a ref ("main") or commit of a models--org--name folder; "main" when absent, or the only snapshot there is.
Result<Place> resolve_place(const std::string& argument, const std::optional<std::string>& revision = std::nullopt);

// The same for who reads a seal alone: no manifest of a store is read, and `files` stays empty. An Ollama model is found by its manifest or its seal.
Result<Place> locate_place(const std::string& argument, const std::optional<std::string>& revision = std::nullopt);

}  // namespace vouchfs::publisher
