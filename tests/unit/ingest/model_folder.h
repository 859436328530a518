// model_folder.h: a model directory for a test, and what the tests ask of a seal on disk.
#pragma once

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "ingest/ingest.h"
#include "seal/seal_directory.h"
#include "unit/base/oracle.h"

namespace vouchfs::ingest::test {

namespace fs = std::filesystem;
using vouchfs::test::first_word;
using vouchfs::test::random_bytes;
using vouchfs::test::run_tool;
using vouchfs::test::TemporaryFolder;

inline std::shared_ptr<const hash::Sha256Engine> engine() { return hash::make_openssl_engine(); }

// {"a": bytes} as a safetensors file of one F32 tensor each, padded to 8 bytes of header.
inline std::string safetensors(const std::map<std::string, std::size_t>& floats, std::uint64_t seed = 1) {
  std::string header = "{";
  std::size_t at = 0;
  for (const auto& [name, count] : floats) {
    header += (header.size() > 1 ? ",\"" : "\"") + name + "\":{\"dtype\":\"F32\",\"shape\":[" + std::to_string(count) + "],\"data_offsets\":[" + std::to_string(at) + "," +
              std::to_string(at + 4 * count) + "]}";
    at += 4 * count;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = header.size();
  std::string text(8, '\0');
  std::memcpy(text.data(), &length, 8);
  const auto data = random_bytes(at, seed);
  return text + header + std::string(data.begin(), data.end());
}

class ModelFolder {
 public:
  ModelFolder() { fs::create_directory(path()); }
  std::string path(const std::string& name = "") const { return name.empty() ? folder_.path("model") : folder_.path("model") + "/" + name; }
  std::string beside(const std::string& name) const { return folder_.path(name); }

  void put(const std::string& name, const std::string& bytes) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream file(path(name), std::ios::binary | std::ios::trunc);
    file << bytes;
    file.close();
    if (!file) ADD_FAILURE() << "cannot write " << path(name);
  }
  void put_noise(const std::string& name, std::size_t bytes, std::uint64_t seed = 7) const {
    const auto noise = random_bytes(bytes, seed);
    put(name, std::string(noise.begin(), noise.end()));
  }
  std::string get(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  // Two numbered shards, a config, a nested folder, an empty file, and one of exactly a block.
  void fill() const {
    put("config.json", "{\"model_type\":\"bert\"}");
    put("empty.txt", "");
    put_noise("one-block.bin", kBlockBytes);
    put_noise("sub/deep/vocab.txt", 3 * kBlockBytes + 17);
    put("model-00001-of-00002.safetensors", safetensors({{"a", 2000}, {"b", 3000}}, 1));
    put("model-00002-of-00002.safetensors", safetensors({{"c", 200000}}, 2));
  }

  IngestOptions options() const {
    IngestOptions options;
    options.model_dir = path();
    return options;
  }
  Result<IngestReport> ingest(IngestOptions with) const {
    IngestProgress progress;
    const CancelFlag cancel;
    return ingest::ingest(with, engine(), progress, cancel);
  }
  Result<IngestReport> ingest() const { return ingest(options()); }

 private:
  TemporaryFolder folder_;
};

// Every path below a folder, relative, sorted.
inline std::vector<std::string> names_below(const std::string& folder) {
  std::vector<std::string> names;
  if (!fs::exists(folder)) return names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) names.push_back(fs::relative(entry.path(), folder).string());
  std::sort(names.begin(), names.end());
  return names;
}

inline std::string fsverity_of(const std::string& path) {
  std::string digest = first_word(run_tool({"fsverity", "digest", "--compact", path}));
  return digest;
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace vouchfs::ingest::test
