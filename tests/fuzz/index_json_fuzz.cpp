// Any bytes as an index file of each family, judged against a folder with three shards of each, one of them missing.
#include <cstdint>
#include <string>

#include "formats/json_reader.h"
#include "formats/shard_index.h"
#include "require.h"

using namespace vouchfs;
using namespace vouchfs::formats;

namespace {

constexpr const char* kNames[] = {"model.safetensors.index.json", "pytorch_model.bin.index.json", "tf_model.h5.index.json"};

std::string text_of(const std::map<std::string, std::string>& map) {
  std::string text = R"({"metadata":{},"weight_map":{)";
  for (const auto& [tensor, file] : map) {
    if (text.back() != '{') text += ',';
    append_json_string(text, tensor);
    text += ':';
    append_json_string(text, file);
  }
  return text + "}}";
}

void judge(const char* name, const ParsedIndex& parsed, const std::vector<FolderShard>& shards) {
  const auto records = judge_folder("", shards, {{name, parsed}}, false);
  REQUIRE(!records.empty());
  for (const IndexRecord& record : records) {
    REQUIRE(record.file_name != name || record.verdict != IndexVerdict::absent);
    REQUIRE(has_headers(record.family) || !record.made());
    for (const std::string& member : record.members) REQUIRE(shard_family_of(member) == record.family);
    if (record.file_name != name || !record.made()) continue;
    // The corrected index is one that would have been right.
    const auto corrected = weight_map_of(record, shards);
    if (corrected.empty()) continue;
    const ParsedIndex again = parse_index(text_of(corrected));
    REQUIRE(again.problems.empty() && again.weight_map == corrected);
    for (const IndexRecord& judged : judge_folder("", shards, {{name, again}}, false)) REQUIRE(judged.file_name != name || judged.verdict == IndexVerdict::right);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<Tensor> first = {{"a", "U8", {4}, 100, 104}, {"b", "U8", {4}, 104, 108}};
  const std::vector<Tensor> third = {{"c", "U8", {4}, 100, 104}};
  const std::vector<FolderShard> shards = {
      {"model-00001-of-00003.safetensors", true, &first}, {"model-00003-of-00003.safetensors", true, &third}, {"x.safetensors", false, nullptr},
      {"pytorch_model-00001-of-00003.bin", true, &first}, {"pytorch_model-00003-of-00003.bin", true, &third}, {"x.bin", false, nullptr},
      {"tf_model-00001-of-00003.h5", false, nullptr}};
  const ParsedIndex parsed = parse_index({reinterpret_cast<const char*>(data), size});
  for (const char* name : kNames) judge(name, parsed, shards);
  return 0;
}
