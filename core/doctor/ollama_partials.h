// ollama_partials.h: unfinished downloads of an Ollama store. Internal to core/doctor.
// Layer:  core/doctor (5).
// Source: Ollama (server/download.go): blobs/sha256-<hex>-partial is reserved in full and sparse; -partial-N holds {"N","Offset","Size","Completed"} as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vouchfs::doctor {

struct OllamaPartial {
  std::string name;         // in blobs/: "sha256-<hex>-partial"
  std::string sha256;       // of the whole blob
  std::uint64_t bytes = 0;  // reserved
  std::uint64_t there = 0;  // downloaded: as the notes of the pieces say, else what takes space on disk
  bool finished = false;    // the whole blob is there too
};
std::vector<OllamaPartial> ollama_partials(const std::string& blobs_dir);

// "sha256-<hex>" and the older "sha256:<hex>" -> hex; "" for other names.
std::string hex_of_blob(const std::string& name);

}  // namespace vouchfs::doctor
