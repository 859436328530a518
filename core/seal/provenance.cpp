#include "seal/provenance.h"

#include <functional>
#include <string_view>

#include "formats/json_reader.h"

namespace vouchfs::seal {
namespace {

using formats::append_json_string;

void append_field(std::string& out, const char* key, std::string_view text) {
  out += std::string("\"") + key + "\":";
  append_json_string(out, text);
}

void append_list(std::string& out, std::size_t count, const std::function<void(std::size_t)>& item) {
  out += '[';
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) out += ',';
    item(i);
  }
  out += ']';
}

void append_digest(std::string& out, const PublisherDigest& digest) {
  append_field(out, "digest", digest.digest);
  out += ',';
  append_field(out, "from", digest.from);
  out += ',';
  append_field(out, "kind", digest.kind);
}

void append_file(std::string& out, const ProvenanceFile& file) {
  out += "{\"checked\":";
  append_list(out, file.checked.size(), [&](std::size_t i) {
    out += '{';
    append_digest(out, file.checked[i]);
    out += '}';
  });
  out += ',';
  append_field(out, "path", file.path);
  out += ',';
  append_field(out, "result", to_string(file.result));
  out += '}';
}

}  // namespace

const char* to_string(ProvenanceResult result) noexcept {
  switch (result) {
    case ProvenanceResult::ok:
      return "ok";
    case ProvenanceResult::mismatch:
      return "mismatch";
    case ProvenanceResult::absent:
      return "absent";
    case ProvenanceResult::exempt:
      return "exempt";
    case ProvenanceResult::unchecked:
      return "unchecked";
  }
  return "unchecked";
}

std::string write_provenance(const Provenance& provenance) {
  std::string out = "{";
  append_field(out, "check", provenance.check);
  out += ",\"files\":";
  append_list(out, provenance.files.size(), [&](std::size_t i) { append_file(out, provenance.files[i]); });
  out += ',';
  append_field(out, "format", "vouchfs-provenance");
  out += ",\"missing\":";
  append_list(out, provenance.missing.size(), [&](std::size_t i) {
    out += '{';
    append_digest(out, provenance.missing[i].digest);
    out += ',';
    append_field(out, "path", provenance.missing[i].path);
    out += '}';
  });
  out += ',';
  append_field(out, "model_digest", hash::to_text(provenance.model_digest));
  return out + ",\"version\":1}\n";
}

}  // namespace vouchfs::seal
