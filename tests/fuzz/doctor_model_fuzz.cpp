// Any bytes as one file of a model on disk, looked at by every check of doctor: judges of configurations, indexes, pointers, notes, lists and headers.
// The first byte picks the name. What doctor then says must be fit for a terminal, a CI log and an XML file, whatever the model calls its parts.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "doctor/catalogue.h"
#include "doctor/doctor.h"
#include "hash/sha256.h"
#include "require.h"

using namespace vouchfs;

namespace {

namespace stdfs = std::filesystem;

constexpr std::string_view kNames[] = {"config.json",
                                       "adapter_config.json",
                                       "model_index.json",
                                       "model.safetensors.index.json",
                                       "pytorch_model.bin.index.json",
                                       "tokenizer.json",
                                       "SHA256SUMS",
                                       "model-00002-of-00003.safetensors",
                                       "model-00002-of-00003.gguf",
                                       "pytorch_model.bin",
                                       ".cache/huggingface/download/model-00001-of-00003.safetensors.metadata",
                                       ".cache/huggingface/trees/1111111111111111111111111111111111111111.json",
                                       ".vouch/manifest.json"};

// A folder with one good shard, and room for the file under test.
class Folder {
 public:
  Folder() {
    std::string pattern = (stdfs::temp_directory_path() / "vouchfs-fuzz-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
    for (const char* folder : {".cache/huggingface/download", ".cache/huggingface/trees", ".vouch"}) stdfs::create_directories(path_ / folder);
    const std::string_view header = R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}   )";
    std::string shard(1, static_cast<char>(header.size()));
    put("model-00001-of-00003.safetensors", shard + std::string(7, '\0') + std::string(header) + "xy");
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    stdfs::remove_all(path_, ignored);
  }
  void put(std::string_view name, std::string_view bytes) const {
    std::ofstream file(path_ / name, std::ios::binary | std::ios::trunc);
    file << bytes;
  }
  void remove(std::string_view name) const { stdfs::remove(path_ / name); }
  std::string path() const { return path_.string(); }

 private:
  stdfs::path path_;
};

bool is_fit_to_print(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if ((byte < 0x20 && byte != '\n') || byte == 0x7F) return false;
    if (byte == 0xC2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0) return false;
  }
  return is_utf8(text);
}

void check_finding(const doctor::Finding& finding) {
  const doctor::CodeFacts* facts = doctor::find_code(finding.code);
  REQUIRE(facts != nullptr && finding.severity >= facts->severity);
  REQUIRE(!finding.message.empty() && !finding.advice.empty());
  if (finding.offset && finding.length) REQUIRE(*finding.offset + *finding.length >= *finding.offset);
}

void check_forms(const doctor::Report& report) {
  REQUIRE(is_fit_to_print(doctor::to_text(report, 80)));
  const std::string annotations = doctor::to_annotations(report);
  REQUIRE(is_fit_to_print(annotations));
  REQUIRE(static_cast<std::size_t>(std::count(annotations.begin(), annotations.end(), '\n')) == report.findings.size() + 1);
  REQUIRE(is_fit_to_print(doctor::to_junit({report})));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const Folder folder;
  static const std::shared_ptr<const hash::Sha256Engine> engine = hash::make_openssl_engine();
  const std::string_view name = kNames[data[0] % std::size(kNames)];
  folder.put(name, {reinterpret_cast<const char*>(data) + 1, size - 1});
  doctor::DoctorOptions options;
  options.deep = true;
  options.jobs = 1;
  doctor::DeepProgress progress;
  const CancelFlag cancel;
  const auto report = doctor::diagnose(folder.path(), options, engine, progress, cancel);
  REQUIRE(report);  // trouble with a file is a finding, never a failure
  for (const doctor::Finding& finding : report->findings) check_finding(finding);
  check_forms(*report);
  folder.remove(name);
  return 0;
}
