// How an event is written: as JSON for programs, as a line for people.
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "observe/event.h"

namespace vouchfs::observe {
namespace {

using Json = nlohmann::ordered_json;

// Names in a log line, and bytes of each; all of it is in the JSON.
constexpr std::size_t kShownNames = 5;
constexpr std::size_t kShownBytes = 200;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json sources_json(const std::vector<SourceOutcome>& sources) {
  Json out = Json::array();
  for (const SourceOutcome& source : sources) out.push_back({{"name", source.name}, {"outcome", source.outcome}});
  return out;
}

std::string shortened(const std::string& text) { return text.size() <= kShownBytes ? text : text.substr(0, kShownBytes) + "…"; }

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < kShownNames; ++i) out += (i == 0 ? "" : ", ") + shortened(names[i]);
  if (names.size() > kShownNames) out += " and " + std::to_string(names.size() - kShownNames) + " more";
  return out;
}

std::string place(const Event& event) {
  std::string out;
  if (event.block) out += ", block " + std::to_string(*event.block);
  if (event.offset && event.length)
    out += ", bytes " + std::to_string(*event.offset) + " to " + std::to_string(*event.offset + (*event.length > 0 ? *event.length - 1 : 0));
  if (event.tree_level) out += ", tree level " + std::to_string(*event.tree_level);
  if (event.tree_block) out += ", tree block " + std::to_string(*event.tree_block);
  return out;
}

std::string hashes(const Event& event) {
  std::string out;
  if (!event.expected.empty()) out += "; expected " + event.expected;
  if (!event.actual.empty()) out += "; got " + event.actual;
  return out;
}

std::string outcomes(const Event& event) {
  std::string out;
  for (const SourceOutcome& source : event.sources) out += (out.empty() ? "; sources: " : ", ") + source.name + " " + source.outcome;
  return out;
}

}  // namespace

std::string to_json(const Event& event, const std::string& time, const std::string& last_time, std::uint64_t count) {
  Json out;
  out["time"] = time;
  out["event"] = event.event;
  out["model"] = event.model;
  out["file"] = event.file;
  out["block"] = or_null(event.block);
  out["offset"] = or_null(event.offset);
  out["length"] = or_null(event.length);
  out["tensors"] = event.tensors;
  out["expected"] = event.expected;
  out["actual"] = event.actual;
  out["sources"] = sources_json(event.sources);
  out["result"] = event.result;
  out["pid"] = event.pid;
  out["uid"] = event.uid;
  out["count"] = count;
  out["last_time"] = last_time;
  if (!event.detail.empty()) out["detail"] = event.detail;
  if (event.tree_level) out["tree_level"] = *event.tree_level;
  if (event.tree_block) out["tree_block"] = *event.tree_block;
  if (!event.changes.empty()) out["changes"] = event.changes;
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_line(const Event& event, std::uint64_t count) {
  std::string out = event.event + ": model " + event.model;
  if (!event.file.empty()) out += ", file " + event.file;
  out += place(event);
  if (!event.tensors.empty()) out += "; tensors " + joined(event.tensors);
  out += hashes(event) + outcomes(event);
  if (!event.changes.empty()) out += "; changes: " + joined(event.changes);
  if (!event.detail.empty()) out += "; " + event.detail;
  if (!event.result.empty()) out += "; result " + event.result;
  if (event.pid != 0) out += "; asked by pid " + std::to_string(event.pid) + ", uid " + std::to_string(event.uid);
  if (count > 1) out += "; " + std::to_string(count) + " times so far";
  return printable(out);
}

}  // namespace vouchfs::observe
