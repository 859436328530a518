// Ollama's manifests: which blobs a model is made of.
#include "formats/hex_text.h"
#include "formats/json_fields.h"
#include "formats/store_files.h"

namespace vouchfs::formats {
namespace {

constexpr std::uint64_t kMaxLayers = 1'000'000;  // one a tensor in the newer models; no more than files a seal can hold
constexpr std::uint64_t kMaxBytes = 1ULL << 60;
constexpr std::size_t kMaxText = 4096;
constexpr std::string_view kDigestPrefix = "sha256:";

// The fields of one layer; `layer` is where they go.
struct LayerSinks {
  explicit LayerSinks(const std::string& what, std::function<Status()> done)
      : object(
            what,
            [this]() -> Status {
              layer = {};
              return {};
            },
            std::move(done)) {
    object.field("mediaType", media_type).field("digest", digest).field("size", size).optional_field("name", name);
  }
  OllamaLayer layer;
  JsonLeaf media_type{"mediaType", take_text("mediaType", kMaxText, [this](std::string&& text) -> Status {
                        layer.media_type = std::move(text);
                        return {};
                      })};
  // The digest of a config may be "": a model without one.
  JsonLeaf digest{"digest", take_text("digest", kMaxText, [this](std::string&& text) -> Status {
                    if (text.empty()) return {};
                    auto hex = text.compare(0, kDigestPrefix.size(), kDigestPrefix) == 0
                                   ? lower_hex(std::string_view(text).substr(kDigestPrefix.size()), kSha256Digits)
                                   : std::nullopt;
                    if (!hex) return fail(ErrorCode::bad_format, "'digest' must be sha256: and 64 hex digits");
                    layer.sha256 = *std::move(hex);
                    return {};
                  })};
  JsonLeaf size{"size", take_number("size", kMaxBytes, [this](std::uint64_t number) -> Status {
                  layer.bytes = number;
                  return {};
                })};
  JsonLeaf name{"name", take_text("name", kMaxText, [this](std::string&& text) -> Status {
                  layer.name = std::move(text);
                  return {};
                })};
  JsonObject object;  // after the leaves it points to
};

// Go writes an empty list as null.
class ListOrNull final : public JsonList {
 public:
  using JsonList::JsonList;
  Status scalar(JsonScalar& value) override { return value.kind == JsonScalar::Kind::null ? Status{} : JsonList::scalar(value); }
};

}  // namespace

Result<OllamaManifest> parse_ollama_manifest(std::string_view text) {
  OllamaManifest manifest;
  std::optional<OllamaLayer> config_layer;
  LayerSinks layers_item("a layer", [&]() -> Status {
    if (layers_item.layer.sha256.empty()) return fail(ErrorCode::bad_format, "a layer has no digest");
    manifest.layers.push_back(std::move(layers_item.layer));
    return {};
  });
  LayerSinks config_item("config", [&]() -> Status {
    if (!config_item.layer.sha256.empty()) config_layer = std::move(config_item.layer);
    return {};
  });
  ListOrNull layers("layers", kMaxLayers, layers_item.object);
  JsonLeaf version("schemaVersion", take_number("schemaVersion", UINT64_MAX, [](std::uint64_t number) -> Status {
                     return number == 2 ? Status{} : Status(fail(ErrorCode::bad_format, "'schemaVersion' is " + std::to_string(number) + ", not 2"));
                   }));
  JsonObject root("the manifest");
  root.field("schemaVersion", version).optional_field("config", config_item.object).field("layers", layers);
  VOUCHFS_TRY(read_json(text, root));
  if (config_layer) manifest.layers.push_back(*std::move(config_layer));
  return manifest;
}

}  // namespace vouchfs::formats
