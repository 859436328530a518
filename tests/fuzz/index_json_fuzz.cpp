// Any bytes as an index file, judged against a folder of three shards, one of them missing.
#include <cstdint>
#include <string>

#include "formats/json_reader.h"
#include "formats/shard_index.h"
#include "require.h"

using namespace vouchfs;
using namespace vouchfs::formats;

namespace {

constexpr const char* kName = "model.safetensors.index.json";

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<Tensor> first = {{"a", "U8", {4}, 100, 104}, {"b", "U8", {4}, 104, 108}};
  const std::vector<Tensor> third = {{"c", "U8", {4}, 100, 104}};
  const std::vector<FolderShard> shards = {
      {"model-00001-of-00003.safetensors", true, &first}, {"model-00003-of-00003.safetensors", true, &third}, {"x.safetensors", false, nullptr}};

  const ParsedIndex parsed = parse_index({reinterpret_cast<const char*>(data), size});
  const auto records = judge_folder("", shards, {{kName, parsed}}, false);
  REQUIRE(!records.empty());
  for (const IndexRecord& record : records) {
    REQUIRE(record.file_name != kName || record.verdict != IndexVerdict::absent);
    if (record.file_name != kName || !record.made()) continue;
    // The corrected index is one that would have been right.
    const auto corrected = weight_map_of(record, shards);
    if (corrected.empty()) continue;
    const ParsedIndex again = parse_index(text_of(corrected));
    REQUIRE(again.problems.empty() && again.weight_map == corrected);
    const auto judged = judge_folder("", shards, {{kName, again}}, false);
    REQUIRE(judged.front().verdict == IndexVerdict::right);
  }
  return 0;
}
