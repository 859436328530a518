#include "formats/add_format.h"

#include "formats/json_reader.h"

namespace vouchfs::formats {
namespace {

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::string_view kFormat = "format";
constexpr std::string_view kBlanks = " \t\r\n";

class MetadataSink final : public JsonSink {
 public:
  bool is_object = false;
  bool is_null = false;
  bool has_format = false;

  Status scalar(JsonScalar& value) override {
    is_null = value.kind == JsonScalar::Kind::null;
    return {};
  }
  Status begin(JsonContainer container) override {
    is_object = container == JsonContainer::object;
    return {};
  }
  Result<JsonSink*> member(std::string& key, std::uint64_t) override {
    has_format = has_format || key == kFormat;
    return nullptr;
  }
};

class RootSink final : public JsonSink {
 public:
  MetadataSink metadata;
  bool is_object = false;
  std::optional<std::uint64_t> metadata_offset;  // of its key

  Status begin(JsonContainer container) override {
    is_object = container == JsonContainer::object;
    return {};
  }
  Result<JsonSink*> member(std::string& key, std::uint64_t offset) override {
    if (key != kMetadata) return nullptr;
    metadata_offset = offset;
    return &metadata;
  }
};

// An entry in front of what the object at `brace` holds.
HeaderEdit first_entry(std::string_view json, std::size_t brace, std::string entry) {
  const std::size_t next = json.find_first_not_of(kBlanks, brace + 1);
  if (next != std::string_view::npos && json[next] != '}') entry += ',';
  return {brace + 1, brace + 1, std::move(entry)};
}

}  // namespace

std::optional<HeaderEdit> format_edit(std::string_view json) {
  RootSink root;
  if (!read_json(json, root) || !root.is_object || root.metadata.has_format) return std::nullopt;
  HeaderEdit edit;
  if (!root.metadata_offset) {
    edit = first_entry(json, json.find('{'), R"("__metadata__":{"format":"pt"})");
  } else if (root.metadata.is_object) {
    edit = first_entry(json, json.find('{', *root.metadata_offset), R"("format":"pt")");
  } else if (root.metadata.is_null) {
    constexpr std::string_view kNull = "null";
    const std::size_t colon = json.find(':', *root.metadata_offset);
    const std::size_t at = json.find(kNull, colon);
    edit = {at, at + kNull.size(), R"({"format":"pt"})"};
  } else {
    return std::nullopt;
  }
  edit.text.append(kFormatEditGrowth + (edit.end - edit.begin) - edit.text.size(), ' ');
  return edit;
}

}  // namespace vouchfs::formats
