#include "view/status_json.h"

#include <nlohmann/json.hpp>
#include <set>

namespace vouchfs::view {
namespace {

using Json = nlohmann::ordered_json;

std::uint64_t bytes_of(const seal::Manifest& manifest) {
  std::uint64_t sum = 0;
  for (const auto& file : manifest.files) sum += file.bytes;
  return sum;
}

// Weight files always, other files when something is wrong with them.
Json shards_json(const SealedModel& model) {
  std::set<std::string> weights;
  for (const auto& file : model.seal().table.files) weights.insert(file.path);
  Json out = Json::array();
  const auto& files = model.seal().manifest.files;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const FileState state = model.state(i);
    if (state != FileState::bad && !weights.contains(files[i].path)) continue;
    out.push_back({{"path", files[i].path}, {"state", to_string(state)}, {"bytes", files[i].bytes}, {"known_bad_blocks", model.known_bad_count(i)}});
  }
  return out;
}

void add_known_bad(Json& row, const SealedModel& model) {
  Json& list = row["known_bad"] = Json::array();
  for (const auto& bad : model.known_bad(kMostKnownBad)) list.push_back({{"file", bad.file}, {"block", bad.block}, {"tensors", bad.tensors}});
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < model.seal().manifest.files.size(); ++i) total += model.known_bad_count(i);
  row["known_bad_total"] = total;
}

Json model_json(const SealedModel& model) {
  const seal::OpenedSeal& seal = model.seal();
  Json row = {{"name", model.name()},
              {"digest", hash::to_text(seal.model_digest)},
              {"trust", model.options().digest ? "pinned" : "as-mounted"},
              {"source", model.options().model_dir},
              {"layout", model.options().by_digest ? "blobs" : "files"},
              {"seal", seal.path},
              {"files", seal.manifest.files.size()},
              {"bytes", bytes_of(seal.manifest)},
              {"on_known_bad", model.options().policy == KnownBadPolicy::serve ? "serve" : "refuse"}};
  row["shards"] = shards_json(model);
  add_known_bad(row, model);
  return row;
}

Json counters_json(const observe::Counters& counters, const observe::EventLog& events) {
  return {{"requests", counters.requests.load()},
          {"reads", counters.reads.load()},
          {"corrupt_blocks", counters.corrupt_blocks.load()},
          {"failed_reads", counters.failed_reads.load()},
          {"refused_opens", counters.refused_opens.load()},
          {"transient", counters.transient.load()},
          {"tree_cache_hits", counters.tree_cache_hits.load()},
          {"tree_cache_misses", counters.tree_cache_misses.load()},
          {"neighbour_hits", counters.neighbour_hits.load()},
          {"events_dropped", events.dropped()}};
}

Json hit_ratio(const observe::Counters& counters) {
  const std::uint64_t hits = counters.tree_cache_hits.load() + counters.neighbour_hits.load();
  const std::uint64_t all = hits + counters.tree_cache_misses.load();
  return all == 0 ? Json(nullptr) : Json(static_cast<double>(hits) / static_cast<double>(all));
}

Json pin_json(const PinProgress* progress) {
  if (progress == nullptr) return nullptr;
  const PinFacts pin = progress->snapshot();
  return {{"state", to_string(pin.state)},
          {"why", pin.why.empty() ? Json(nullptr) : Json(pin.why)},
          {"limit_bytes", pin.limit_bytes},
          {"matching_files", pin.matching_files},
          {"planned_files", pin.planned_files},
          {"planned_bytes", pin.planned_bytes},
          {"filled_bytes", pin.filled_bytes},
          {"pinned_files", pin.pinned_files},
          {"pinned_bytes", pin.pinned_bytes}};
}

Json pid_or_null(pid_t pid) { return pid == 0 ? Json(nullptr) : Json(pid); }

}  // namespace

std::string status_json(const std::vector<std::unique_ptr<SealedModel>>& models, const Runtime& runtime, const MountFacts& facts,
                        const std::optional<std::string>& only_model) {
  Json out;
  out["mount_point"] = facts.mount_point;
  Json& rows = out["models"] = Json::array();
  Json sources = Json::array();
  for (const auto& model : models) {
    if (only_model && model->name() != *only_model) continue;
    rows.push_back(model_json(*model));
    sources.push_back({{"name", "model"}, {"model", model->name()}, {"path", model->options().model_dir}});
  }
  out["bytes_served"] = runtime.counters.bytes_served.load();
  out["bytes_verified"] = runtime.counters.bytes_verified.load();
  out["cache_hit_ratio"] = hit_ratio(runtime.counters);
  out["repairs"] = 0;
  out["readahead_kb"] = facts.readahead_kb;
  out["pin"] = pin_json(facts.pin.get());
  out["restarts"] = 0;
  out["sources"] = std::move(sources);
  out["scrub"] = nullptr;
  out["versions"] = {
      {"vouchfs", facts.version}, {"libfuse", facts.libfuse_version}, {"hash", runtime.engine ? std::string(runtime.engine->name()) : std::string()}};
  out["supervisor_pid"] = pid_or_null(facts.supervisor_pid);
  out["worker_pid"] = pid_or_null(facts.worker_pid);
  out["counters"] = counters_json(runtime.counters, runtime.events);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace vouchfs::view
