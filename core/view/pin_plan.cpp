#include "view/pin_plan.h"

#include <fnmatch.h>

#include <algorithm>
#include <unordered_set>

#include "base/bytes.h"
#include "base/units.h"
#include "view/node_ids.h"

namespace vouchfs::view {
namespace {

void collect(const MountView& view, const Node& folder, const std::string& prefix, std::vector<PinItem>& out) {
  for (const std::uint64_t id : folder.children) {
    const Node* node = view.find(id);
    if (node->kind == NodeKind::folder) collect(view, *node, prefix + node->name + "/", out);
    if (node->kind == NodeKind::sealed_file && node->bytes > 0) out.push_back({node, prefix + node->name, 0});
  }
}

bool wanted(const std::string& path, const std::vector<std::string>& globs) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return ::fnmatch(glob.c_str(), path.c_str(), 0) == 0; });
}

void give_twins(const MountView& view, std::vector<PinItem>& items) {
  std::unordered_set<std::uint64_t> given;
  for (PinItem& item : items) {
    const std::string path = item.path + std::string("\0pinned", 7);  // no path has a NUL in it
    const hash::Digest& digest = item.node->model->seal().model_digest;
    item.twin = first_free_id([&](unsigned attempt) { return wished_id(digest, {}, path, attempt); },
                              [&](std::uint64_t id) { return view.find(id) != nullptr || given.contains(id); });
    given.insert(item.twin);
  }
}

std::string files_text(std::uint64_t count) { return std::to_string(count) + (count == 1 ? " file" : " files"); }

// Why not all that was asked for will be pinned.
std::string shortfall(const PinPlan& plan, const PinRequest& request, const std::string& obstacle) {
  if (!obstacle.empty()) return obstacle;
  if (plan.matching_files == 0) return "no file of the mount has a name like that";
  const std::uint64_t left = plan.matching_files - plan.items.size();
  if (left == 0) return {};
  return std::to_string(left) + " of " + files_text(plan.matching_files) + (left == 1 ? " does" : " do") + " not fit into the limit of " +
         format_bytes(request.limit_bytes);
}

}  // namespace

PinPlan plan_pins(const MountView& view, const PinRequest& request) {
  std::vector<PinItem> files;
  collect(view, *view.find(kRootId), {}, files);
  std::sort(files.begin(), files.end(), [](const PinItem& a, const PinItem& b) { return a.path < b.path; });
  PinPlan plan;
  std::uint64_t left = request.limit_bytes;
  for (PinItem& file : files) {
    if (!wanted(file.path, request.globs)) continue;
    ++plan.matching_files;
    const std::uint64_t room = blocks_for(file.node->bytes) * kBlockBytes;
    if (room > left) continue;
    left -= room;
    plan.bytes += file.node->bytes;
    plan.items.push_back(std::move(file));
  }
  give_twins(view, plan.items);
  return plan;
}

PinFacts pin_outlook(const PinPlan& plan, const PinRequest& request, const std::string& obstacle) {
  PinFacts facts;
  facts.why = shortfall(plan, request, obstacle);
  facts.limit_bytes = request.limit_bytes;
  facts.matching_files = plan.matching_files;
  if (!obstacle.empty() || plan.items.empty()) return facts;
  facts.state = PinState::filling;
  facts.planned_files = plan.items.size();
  facts.planned_bytes = plan.bytes;
  return facts;
}

}  // namespace vouchfs::view
