#include "doctor/hub_partials.h"

#include <algorithm>
#include <map>
#include <utility>

#include "doctor/check_parts.h"
#include "doctor/folder_list.h"
#include "formats/store_files.h"

namespace vouchfs::doctor {
namespace {

bool is_etag(std::string_view text) { return is_hex(text, 64) || is_hex(text, 40); }

// What one snapshot says of blobs it has or wants.
struct Wishes {
  std::string revision;
  bool listed = false;
  std::map<std::string, formats::HfTreeFile> tree;
  std::vector<std::pair<std::string, std::string>> dangling;  // path, etag
};

Wishes wishes_of(const std::string& cache_dir, const std::string& revision) {
  Wishes wishes;
  wishes.revision = revision;
  if (const auto text = read_small(cache_dir + "/trees/" + revision + ".json", formats::kMaxStoreFileBytes)) {
    if (auto tree = formats::parse_hf_tree(*text)) {
      wishes.tree = *std::move(tree);
      wishes.listed = true;
    }
  }
  const std::string root = cache_dir + "/snapshots/" + revision;
  for (const std::string& path : files_below(root)) {
    const auto target = link_text(join_path(root, path));
    if (target && is_etag(base_name(*target)) && !size_of(join_path(root, path))) wishes.dangling.emplace_back(path, base_name(*target));
  }
  return wishes;
}

void find_owners(const std::vector<Wishes>& all, HubPartial& partial) {
  for (const Wishes& wishes : all) {
    bool found = false;
    for (const auto& [path, file] : wishes.tree)
      if (file.sha256 == partial.etag || (file.sha256.empty() && file.git_sha1 == partial.etag)) {
        partial.owners.push_back({wishes.revision, path, file.lfs_bytes ? *file.lfs_bytes : file.bytes});
        found = true;
      }
    for (const auto& [path, etag] : wishes.dangling)
      if (!found && etag == partial.etag) partial.owners.push_back({wishes.revision, path, std::nullopt});
  }
  const bool all_listed = !all.empty() && std::all_of(all.begin(), all.end(), [](const Wishes& wishes) { return wishes.listed; });
  partial.listed_elsewhere = partial.owners.empty() && all_listed;
}

}  // namespace

std::optional<std::string> etag_of_partial(const std::string& name) {
  constexpr std::string_view kEnding = ".incomplete";
  if (name.size() <= kEnding.size() || name.compare(name.size() - kEnding.size(), kEnding.size(), kEnding) != 0) return std::nullopt;
  std::string_view stem = std::string_view(name).substr(0, name.size() - kEnding.size());
  if (is_etag(stem)) return std::string(stem);
  const std::size_t dot = stem.find_last_of('.');
  if (dot == std::string_view::npos || !is_etag(stem.substr(0, dot)) || !is_hex(stem.substr(dot + 1), 8)) return std::nullopt;
  return std::string(stem.substr(0, dot));
}

std::vector<HubPartial> hub_partials(const std::string& cache_dir) {
  std::vector<HubPartial> partials;
  const std::string blobs = cache_dir + "/blobs";
  for (const std::string& name : names_in(blobs)) {
    const auto etag = etag_of_partial(name);
    if (!etag) continue;
    HubPartial partial;
    partial.name = name;
    partial.etag = *etag;
    // A downloader that reserves the whole file at once leaves holes where nothing came yet.
    if (const auto size = size_of(join_path(blobs, name))) partial.bytes = std::min(size->bytes, size->allocated);
    partial.finished = size_of(join_path(blobs, *etag)).has_value();
    partials.push_back(std::move(partial));
  }
  if (partials.empty()) return partials;
  std::vector<Wishes> wishes;
  for (const std::string& revision : names_in(cache_dir + "/snapshots")) wishes.push_back(wishes_of(cache_dir, revision));
  for (HubPartial& partial : partials) find_owners(wishes, partial);
  return partials;
}

std::string progress_text(std::uint64_t bytes, const std::optional<std::uint64_t>& whole) {
  if (!whole) return bytes_text(bytes) + " are there, how many there must be is not known";
  return std::to_string(bytes) + " of " + bytes_text(*whole) + " are there";
}

}  // namespace vouchfs::doctor
