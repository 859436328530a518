#include "view/status_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/utf8.h"
#include "view/text_columns.h"

namespace vouchfs::view {
namespace {

using nlohmann::json;

// Rows of one list that are printed; the JSON has more.
constexpr std::size_t kShownShards = 40;
constexpr std::size_t kShownBlocks = 20;

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? printable(found->get<std::string>()) : std::string();
}

std::uint64_t number_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

const json& list_of(const json& object, const char* key) {
  static const json empty = json::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : empty;
}

const json& object_of(const json& object, const char* key) {
  static const json empty = json::object();
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : empty;
}

class Page {
 public:
  void line(const std::string& text) { out_ += fitted(text, kStatusColumns) + "\n"; }
  // "  label     value"; left out when there is no value.
  void field(const std::string& label, const std::string& value) {
    if (!value.empty()) line("  " + label + std::string(label.size() < kLabel ? kLabel - label.size() : 1, ' ') + value);
  }
  std::string take() { return std::move(out_); }
  static constexpr std::size_t kLabel = 11;

 private:
  std::string out_;
};

std::string plural(std::uint64_t count, const std::string& noun) { return std::to_string(count) + " " + noun + (count == 1 ? "" : "s"); }

std::string trust_text(const std::string& trust) {
  if (trust == "pinned") return "pinned by --digest";
  if (trust == "as-mounted") return "the seal as it was when mounted (not pinned)";
  return trust;
}

// Bad shards first, so that they are shown however many there are of the others.
std::vector<const json*> ordered_shards(const json& shards) {
  std::vector<const json*> out;
  for (const json& shard : shards)
    if (shard.is_object()) out.push_back(&shard);
  std::stable_partition(out.begin(), out.end(), [](const json* shard) { return text_of(*shard, "state") == "bad"; });
  return out;
}

std::string bad_part(const json& shard) {
  const std::uint64_t blocks = number_of(shard, "known_bad_blocks");
  return blocks == 0 ? std::string() : ", " + plural(blocks, "known-bad block");
}

void write_shards(Page& page, const json& model) {
  const auto shards = ordered_shards(list_of(model, "shards"));
  if (shards.empty()) return;
  page.line("  shards");
  for (std::size_t i = 0; i < shards.size() && i < kShownShards; ++i) {
    const std::string state = "    " + text_of(*shards[i], "state") + "  ";
    const std::string tail = bad_part(*shards[i]);
    page.line(state + fitted(text_of(*shards[i], "path"), kStatusColumns - state.size() - tail.size()) + tail);
  }
  if (shards.size() > kShownShards) page.line("    and " + std::to_string(shards.size() - kShownShards) + " more");
}

void write_block(Page& page, const json& bad) {
  const std::string block = ", block " + std::to_string(number_of(bad, "block"));
  page.line("    " + fitted(text_of(bad, "file"), kStatusColumns - 4 - block.size()) + block);
  std::vector<std::string> tensors;
  for (const json& name : list_of(bad, "tensors"))
    if (name.is_string()) tensors.push_back(printable(name.get<std::string>()));
  constexpr std::string_view kLead = "      tensors ";
  if (!tensors.empty()) page.line(std::string(kLead) + fitted_list(tensors, kStatusColumns - kLead.size()));
}

void write_known_bad(Page& page, const json& model) {
  const json& blocks = list_of(model, "known_bad");
  if (blocks.empty()) return;
  page.line("  known-bad blocks");
  std::size_t shown = 0;
  for (const json& bad : blocks) {
    if (!bad.is_object()) continue;
    if (shown == kShownBlocks) break;
    write_block(page, bad);
    ++shown;
  }
  const std::uint64_t total = std::max<std::uint64_t>(number_of(model, "known_bad_total"), blocks.size());
  if (total > shown) page.line("    and " + std::to_string(total - shown) + " more");
}

void write_model(Page& page, const json& model) {
  page.line("model " + text_of(model, "name"));
  page.field("digest", text_of(model, "digest"));
  page.field("trust", trust_text(text_of(model, "trust")));
  page.field("source", text_of(model, "source"));
  page.field("seal", text_of(model, "seal"));
  page.field("content", plural(number_of(model, "files"), "file") + ", " + format_bytes(number_of(model, "bytes")));
  write_shards(page, model);
  write_known_bad(page, model);
}

std::string hits_text(const json& status) {
  const auto ratio = status.find("cache_hit_ratio");
  if (ratio == status.end() || !ratio->is_number()) return "none needed yet";
  return std::to_string(static_cast<int>(ratio->get<double>() * 100.0 + 0.5)) + " % of tree blocks and neighbours found in memory";
}

std::string pin_text(const json& pin) {
  if (pin.empty()) return {};
  const std::string why = text_of(pin, "why");
  if (text_of(pin, "state") == "off") return "nothing: " + why;
  std::string out = std::to_string(number_of(pin, "pinned_files")) + " of " + plural(number_of(pin, "matching_files"), "file") + ", " + format_bytes(number_of(pin, "pinned_bytes"));
  if (text_of(pin, "state") == "filling") out += "; filling, " + format_bytes(number_of(pin, "filled_bytes")) + " of " + format_bytes(number_of(pin, "planned_bytes"));
  return out + (why.empty() ? "" : "; " + why);
}

std::string versions_text(const json& versions) {
  std::string out;
  for (const char* part : {"vouchfs", "libfuse", "hash"})
    if (const std::string version = text_of(versions, part); !version.empty()) out += (out.empty() ? "" : ", ") + std::string(part) + " " + version;
  return out;
}

std::string process_text(const json& status) {
  std::string out;
  if (const auto pid = number_of(status, "worker_pid"); pid != 0) out += "worker " + std::to_string(pid);
  if (const auto pid = number_of(status, "supervisor_pid"); pid != 0) out += (out.empty() ? "" : ", ") + std::string("supervisor ") + std::to_string(pid);
  return out + (out.empty() ? "" : ", ") + plural(number_of(status, "restarts"), "restart");
}

void write_mount(Page& page, const json& status) {
  const json& counters = object_of(status, "counters");
  const std::string mount_point = text_of(status, "mount_point");
  page.line("mount" + (mount_point.empty() ? "" : " " + mount_point));
  page.field("served", format_bytes(number_of(status, "bytes_served")) + ", verified " + format_bytes(number_of(status, "bytes_verified")));
  page.field("failed", plural(number_of(counters, "failed_reads"), "read") + ", " + plural(number_of(counters, "refused_opens"), "open") + " refused, " +
                           plural(number_of(counters, "corrupt_blocks"), "corrupt block") + ", " + plural(number_of(status, "repairs"), "repair"));
  page.field("cache hits", hits_text(status));
  page.field("readahead", number_of(status, "readahead_kb") == 0 ? "" : std::to_string(number_of(status, "readahead_kb")) + " KiB");
  page.field("pinned", pin_text(object_of(status, "pin")));
  page.field("processes", process_text(status));
  page.field("versions", versions_text(object_of(status, "versions")));
}

}  // namespace

Result<std::string> status_text(std::string_view status_json) {
  const json status = json::parse(status_json, nullptr, false);
  if (!status.is_object()) return fail(ErrorCode::bad_format, "the status is no JSON object", ".vouch/status.json", "is this a mount of vouchfs?");
  Page page;
  write_mount(page, status);
  for (const json& model : list_of(status, "models"))
    if (model.is_object()) write_model(page, model);
  return page.take();
}

}  // namespace vouchfs::view
