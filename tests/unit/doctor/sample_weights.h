// sample_weights.h: safetensors files and models of them as text, for tests of doctor's checks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "unit/formats/sample_file.h"

namespace vouchfs::doctor::test {

inline const std::string kMetadata = R"("__metadata__":{"format":"pt"})";

// Tensors of `bytes` U8 elements each, one behind the other, with data that is neither zero nor the same everywhere.
struct Row {
  std::string name;
  std::uint64_t bytes = 8;
};

inline std::string noise(std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(1 + (i * 37 + i / 7) % 250);
  return bytes;
}

inline std::string header_of(const std::vector<Row>& rows) {
  std::string json = "{" + kMetadata;
  std::uint64_t at = 0;
  for (const Row& row : rows) {
    json += ",\"" + row.name + R"(":{"dtype":"U8","shape":[)" + std::to_string(row.bytes) + R"(],"data_offsets":[)" + std::to_string(at) + "," +
            std::to_string(at + row.bytes) + "]}";
    at += row.bytes;
  }
  json += "}";
  return json + std::string((8 - json.size() % 8) % 8, ' ');
}

inline std::string weights(const std::vector<Row>& rows) {
  std::uint64_t bytes = 0;
  for (const Row& row : rows) bytes += row.bytes;
  return formats::test::file_of(header_of(rows), noise(static_cast<std::size_t>(bytes)));
}

// {"metadata": …, "weight_map": {…}} of (tensor, file) pairs.
inline std::string index_of(const std::vector<std::pair<std::string, std::string>>& map, const std::string& metadata = R"({"total_size":16})") {
  std::string text = R"({"metadata":)" + metadata + R"(,"weight_map":{)";
  for (std::size_t i = 0; i < map.size(); ++i) text += (i == 0 ? "\"" : ",\"") + map[i].first + "\":\"" + map[i].second + "\"";
  return text + "}}";
}

}  // namespace vouchfs::doctor::test
