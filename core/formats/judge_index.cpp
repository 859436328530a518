// Judging the indexes of a folder against the headers of its shards. The rules stand in shard_index.h.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "formats/shard_groups.h"
#include "formats/shard_index.h"
#include "formats/shown_name.h"

namespace vouchfs::formats {
namespace {

constexpr const char* kTotalSize = "metadata.total_size";

// The shards of a folder by name.
using Shards = std::map<std::string, const FolderShard*>;

Shards by_name(const std::vector<FolderShard>& shards) {
  Shards map;
  for (const FolderShard& shard : shards) map.emplace(shard.file_name, &shard);
  return map;
}

bool is_readable(const FolderShard& shard) { return shard.readable && shard.tensors != nullptr; }

// What one family has in a folder.
struct FamilyFiles {
  Shards shards;
  std::vector<ShardGroup> groups;
};

FamilyFiles files_of(IndexFamily family, const Shards& all) {
  FamilyFiles files;
  std::vector<std::string> names;
  for (const auto& [name, shard] : all) {
    if (shard_family_of(name) != family) continue;
    files.shards.emplace(name, shard);
    names.push_back(name);
  }
  files.groups = group_shards(names, family);
  return files;
}

void add_saturated(std::uint64_t& sum, std::uint64_t more) {
  if (__builtin_add_overflow(sum, more, &sum)) sum = UINT64_MAX;
}

// Counts the bytes of one file's tensors, in their order: of ranges that overlap (tied weights of torch) each byte once.
class RangeSum {
 public:
  std::uint64_t add(const Tensor& tensor) {
    const std::uint64_t begin = std::max(tensor.begin, covered_);
    covered_ = std::max(covered_, tensor.end);
    return tensor.end > begin ? tensor.end - begin : 0;
  }

 private:
  std::uint64_t covered_ = 0;
};

// What the headers of an index's members say.
struct Headers {
  std::map<std::string, std::vector<std::string>> holders;  // tensor -> members, sorted
  std::uint64_t total_bytes = 0;                            // each tensor once, and each byte once: what total_size should be
  std::uint64_t unique_bytes = 0;                           // each tensor once, tied ones as often as they are named
  std::uint64_t all_bytes = 0;                              // every tensor of every file
  std::set<std::string> unreadable;                         // members

  bool holds(const std::string& tensor, const std::string& file) const {
    const auto found = holders.find(tensor);
    return found != holders.end() && std::binary_search(found->second.begin(), found->second.end(), file);
  }
};

Headers read_headers(const std::vector<std::string>& members, const Shards& shards) {
  Headers headers;
  for (const std::string& member : members) {  // sorted, so holders are
    const auto shard = shards.find(member);
    if (shard == shards.end() || !is_readable(*shard->second)) {
      headers.unreadable.insert(member);
      continue;
    }
    RangeSum sum;
    for (const Tensor& tensor : *shard->second->tensors) {
      auto& holders = headers.holders[tensor.name];
      if (holders.empty()) {
        add_saturated(headers.unique_bytes, tensor.bytes());
        add_saturated(headers.total_bytes, sum.add(tensor));
      }
      add_saturated(headers.all_bytes, tensor.bytes());
      if (holders.empty() || holders.back() != member) holders.push_back(member);
    }
  }
  return headers;
}

// Files of which the record tells no tensor. Sorted.
void note_unknown(const Headers& headers, IndexRecord& record) {
  std::set<std::string> files = headers.unreadable;
  files.insert(record.missing_files.begin(), record.missing_files.end());
  for (const auto& [tensor, file] : record.absent_weights) files.erase(file);
  record.unknown_files.assign(files.begin(), files.end());
}

void note_duplicates(const Headers& headers, IndexRecord& record) {
  for (const auto& [tensor, holders] : headers.holders)
    if (holders.size() > 1) record.duplicates.push_back(tensor);
}

// One publisher's index against the headers.
class Judge {
 public:
  Judge(const FolderIndex& index, IndexFamily family, const FamilyFiles& files, const Shards& all, IndexRecord& record)
      : map_(index.parsed.weight_map), shards_(files.shards), groups_(files.groups), all_(all), record_(record) {
    record_.file_name = index.file_name;
    record_.family = family;
    record_.problems = index.parsed.problems;
    record_.published_total_size = index.parsed.total_size;
    record_.metadata = index.parsed.metadata;
  }

  void run() {
    cover();
    if (has_headers(record_.family)) {
      judge_by_headers();
    } else {
      judge_by_names();
    }
    note_foreign();
    record_.verdict = record_.problems.empty() && record_.corrections.empty() ? IndexVerdict::right : IndexVerdict::wrong;
  }

 private:
  void judge_by_headers() {
    headers_ = read_headers(record_.members, shards_);
    note_duplicates(headers_, record_);
    check_entries();
    check_lacking();
    find_missing_by_number();
    check_total_size();
    std::sort(record_.corrections.begin(), record_.corrections.end(), [](const IndexCorrection& a, const IndexCorrection& b) { return a.tensor < b.tensor; });
    record_.missing_files.assign(missing_.begin(), missing_.end());
    note_unknown(headers_, record_);
  }

  // Whether the shards are there is all that can be said.
  void judge_by_names() {
    for (const std::string& file : named_)
      if (shards_.count(file) == 0) missing_.insert(file);
    find_missing_by_number();
    record_.missing_files.assign(missing_.begin(), missing_.end());
    headers_.unreadable.insert(record_.members.begin(), record_.members.end());
    note_unknown(headers_, record_);
  }

  // An index of .safetensors that names .bin files: those are there, but no reader of this index takes them.
  void note_foreign() {
    if (foreign_.empty()) return;
    record_.problems.push_back("weight_map names '" + shown_name(*foreign_.begin()) + "', which is no " + std::string(shard_ending(record_.family)) + " file" +
                               (foreign_.size() > 1 ? " (and " + std::to_string(foreign_.size() - 1) + " more)" : ""));
    std::set<std::string> unknown(record_.unknown_files.begin(), record_.unknown_files.end());
    unknown.insert(unplaced_.begin(), unplaced_.end());
    record_.unknown_files.assign(unknown.begin(), unknown.end());
  }

  void cover() {
    std::set<std::string> unsafe;
    for (const auto& [tensor, file] : map_) {
      if (!is_plain_relative_path(file))
        unsafe.insert(file);
      else if (shards_.count(file) == 0 && all_.count(file) != 0)
        foreign_.insert(file);
      else
        named_.insert(file);
    }
    if (!unsafe.empty())
      record_.problems.push_back("weight_map names '" + shown_name(*unsafe.begin()) + "', which is no plain path inside the folder" +
                                 (unsafe.size() > 1 ? " (and " + std::to_string(unsafe.size() - 1) + " more)" : ""));
    std::set<std::string> sets;
    std::set<std::string> members;
    for (const std::string& file : named_) {
      if (shards_.count(file) == 0) continue;
      members.insert(file);
    }
    for (const std::string& file : named_) sets.insert(numbered_set_key(file));
    sets.erase("");
    for (const auto& [file, shard] : shards_)
      if (sets.count(numbered_set_key(file)) != 0) members.insert(file);
    record_.members.assign(members.begin(), members.end());
    if (members.empty()) cover_by_name();
  }

  // The index is of no help: what would an index of this name cover?
  void cover_by_name() {
    const auto group = std::find_if(groups_.begin(), groups_.end(), [&](const ShardGroup& g) { return g.index_name == record_.file_name; });
    if (group != groups_.end()) {
      record_.members = group->files;
      missing_.insert(group->missing.begin(), group->missing.end());
    } else if (const auto name = parse_index_name(record_.file_name)) {
      const std::string single = name->stem + (name->variant.empty() ? "" : "." + name->variant) + std::string(shard_ending(record_.family));
      if (shards_.count(single) != 0) record_.members = {single};
    }
    if (!named_.empty() && !record_.members.empty()) record_.problems.push_back("none of the files it names is here");
  }

  void correct(const std::string& tensor, std::string was, std::string now) { record_.corrections.push_back({tensor, std::move(was), std::move(now)}); }

  void check_entries() {
    for (const auto& [tensor, file] : map_) {
      if (headers_.holds(tensor, file)) {
        if (headers_.holders[tensor].size() > 1) record_.choices.emplace(tensor, file);
        continue;
      }
      const auto holders = headers_.holders.find(tensor);
      if (holders != headers_.holders.end()) {
        correct(tensor, file, holders->second.front());
      } else if (foreign_.count(file) != 0) {
        unplaced_.insert(file);
      } else if (is_plain_relative_path(file) && shards_.count(file) == 0) {
        record_.absent_weights.emplace(tensor, file);
        missing_.insert(file);
      } else if (headers_.unreadable.count(file) != 0) {
        record_.absent_weights.emplace(tensor, file);
      } else {
        correct(tensor, file, "");
      }
    }
  }

  void check_lacking() {
    for (const auto& [tensor, holders] : headers_.holders)
      if (map_.count(tensor) == 0) correct(tensor, "", holders.front());
  }

  bool total_fits() const {
    const auto& total = record_.published_total_size;
    return total && has_headers(record_.family) && (*total == headers_.total_bytes || *total == headers_.unique_bytes || *total == headers_.all_bytes);
  }

  void find_missing_by_number() {
    if (total_fits() && headers_.unreadable.empty()) return;
    std::map<std::string, std::vector<std::string>> sets;
    std::map<std::string, std::uint64_t> named_of_count;  // any named file that ends "-of-COUNT…", numbered or not
    for (const std::string& file : named_) {
      if (const std::string key = numbered_set_key(file); !key.empty()) sets[key].push_back(file);
      if (const auto of = file.rfind("-of-"); of != std::string::npos) ++named_of_count[file.substr(of)];
    }
    std::map<std::string, std::vector<std::string>> members;
    for (const std::string& member : record_.members) members[numbered_set_key(member)].push_back(member);
    for (auto& [key, files] : sets) {
      const auto first = *parse_shard_name(files.front());
      if (named_of_count[first.after_number] >= first.count) continue;
      if (const auto here = members.find(key); here != members.end()) files.insert(files.end(), here->second.begin(), here->second.end());
      ShardGroup group;
      find_missing(files, missing_.size(), group);
      missing_.insert(group.missing.begin(), group.missing.end());
    }
  }

  void check_total_size() {
    const auto& total = record_.published_total_size;
    if (!total || total_fits()) return;
    const bool complete = missing_.empty() && headers_.unreadable.empty();
    if (complete || *total < headers_.total_bytes) correct(kTotalSize, std::to_string(*total), std::to_string(headers_.total_bytes));
  }

  const std::map<std::string, std::string>& map_;
  const Shards& shards_;
  const std::vector<ShardGroup>& groups_;
  const Shards& all_;
  IndexRecord& record_;
  std::set<std::string> named_;     // of this family, or not there
  std::set<std::string> foreign_;   // there, and of another family
  std::set<std::string> unplaced_;  // of these, those with a tensor that no file of this family holds
  std::set<std::string> missing_;
  Headers headers_;
};

bool ends_with_index_json(const std::string& name) { return name.ends_with(".index.json"); }

// A set without an index, and the family it is of.
struct OpenGroup {
  const ShardGroup* group;
  IndexFamily family;
  bool wanted;  // no single file is there that readers would take
};

// The record of a group that no publisher's index covers.
IndexRecord record_of_group(const OpenGroup& open, const Shards& shards) {
  const ShardGroup& group = *open.group;
  IndexRecord record;
  record.file_name = group.index_name;
  record.family = open.family;
  record.members = group.files;
  record.missing_files = group.missing;
  const Headers headers = read_headers(group.files, shards);
  if (has_headers(open.family))
    for (const std::string& file : headers.unreadable) record.problems.push_back("the header of '" + file + "' cannot be read");
  note_duplicates(headers, record);
  note_unknown(headers, record);
  if (group.missing_count > group.missing.size())
    record.problems.push_back(std::to_string(group.missing_count) + " files are missing by their numbers; the first " + std::to_string(group.missing.size()) +
                              " are listed");
  return record;
}

// Of the sets that could be shown under "*.index.json" one is taken: readers that look for exactly one refuse two. A whole one comes before
// one with a gap, and then the one whose name readers look for first.
const ShardGroup* preferred(const std::vector<OpenGroup>& open) {
  std::vector<const ShardGroup*> plain;
  for (const OpenGroup& one : open)
    if (one.wanted && ends_with_index_json(one.group->index_name)) plain.push_back(one.group);
  if (plain.size() == 1) return plain.front();
  for (const bool whole : {true, false})
    for (const char* name : {"model.safetensors.index.json", "diffusion_pytorch_model.safetensors.index.json", "pytorch_model.bin.index.json",
                             "diffusion_pytorch_model.bin.index.json"})
      for (const ShardGroup* group : plain)
        if (group->index_name == name && (!whole || group->missing.empty())) return group;
  return nullptr;
}

// Whether a file that readers take instead of the set is there whole: of its own family whatever its state, of another when its header is good.
bool single_beside(const ShardGroup& group, const Shards& all) {
  if (group.single_beside) return true;
  constexpr std::string_view kPytorch = "pytorch_";  // "model.safetensors" is "pytorch_model.bin" in the other family
  const std::string twin = group.single.starts_with(kPytorch) ? group.single.substr(kPytorch.size()) : std::string(kPytorch) + group.single;
  return std::any_of(std::begin(kIndexFamilies), std::end(kIndexFamilies), [&](IndexFamily family) {
    for (const std::string& stem : {group.single, twin}) {
      const auto file = all.find(stem + std::string(shard_ending(family)));
      if (file != all.end() && is_readable(*file->second)) return true;
    }
    return false;
  });
}

// Sets without an index of their own, as far as something is to be said about them.
void add_absent(const std::map<IndexFamily, FamilyFiles>& families, const Shards& all, bool other_index_present, std::vector<IndexRecord>& records) {
  std::set<std::string> covered;
  std::set<std::string> names;
  bool taken = other_index_present;  // "*.index.json" is there already
  for (const IndexRecord& record : records) {
    covered.insert(record.members.begin(), record.members.end());
    names.insert(record.file_name);
    taken = taken || ends_with_index_json(record.file_name);
  }
  std::vector<OpenGroup> open;
  for (const auto& [family, files] : families) {
    for (const ShardGroup& group : files.groups) {
      const bool any_covered = std::any_of(group.files.begin(), group.files.end(), [&](const std::string& file) { return covered.count(file) != 0; });
      if (any_covered || names.count(group.index_name) != 0) continue;
      const bool wanted = has_headers(family) && !single_beside(group, all) && !group.index_name.starts_with("adapter");
      open.push_back({&group, family, wanted});
    }
  }
  const ShardGroup* chosen = taken ? nullptr : preferred(open);
  for (const OpenGroup& one : open) {
    const bool free_name = !ends_with_index_json(one.group->index_name) && !other_index_present;
    const bool showable = one.wanted && (one.group == chosen || free_name);
    if (showable || !one.group->missing.empty()) records.push_back(record_of_group(one, all));
  }
}

}  // namespace

std::map<std::string, std::string> weight_map_of(const IndexRecord& record, const std::vector<FolderShard>& shards) {
  std::map<std::string, std::string> map = record.absent_weights;
  const Headers headers = read_headers(record.members, by_name(shards));
  for (const auto& [tensor, holders] : headers.holders) {
    const auto choice = record.choices.find(tensor);
    map[tensor] = choice != record.choices.end() ? choice->second : holders.front();
  }
  return map;
}

std::uint64_t total_bytes_of(const std::vector<FolderShard>& members) {
  std::vector<std::string> names;
  names.reserve(members.size());
  for (const FolderShard& member : members) names.push_back(member.file_name);
  std::sort(names.begin(), names.end());
  return read_headers(names, by_name(members)).total_bytes;
}

std::vector<IndexRecord> judge_folder(const std::string& folder, const std::vector<FolderShard>& shards, const std::vector<FolderIndex>& indexes,
                                      bool other_index_present) {
  const Shards here = by_name(shards);
  std::map<IndexFamily, FamilyFiles> families;
  for (const IndexFamily family : kIndexFamilies) families.emplace(family, files_of(family, here));
  std::vector<IndexRecord> records;
  for (const FolderIndex& index : indexes) {
    if (const auto family = index_family_of(index.file_name)) Judge(index, *family, families.at(*family), here, records.emplace_back()).run();
  }
  add_absent(families, here, other_index_present, records);
  for (IndexRecord& record : records) record.folder = folder;
  std::sort(records.begin(), records.end(), [](const IndexRecord& a, const IndexRecord& b) { return a.file_name < b.file_name; });
  return records;
}

}  // namespace vouchfs::formats
