#include "view/synthesized_index.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_set>

namespace vouchfs::view {
namespace {

using nlohmann::json;

// How IndexCorrection calls the sum of all bytes.
constexpr const char* kTotalSize = "metadata.total_size";

std::string joined(const std::string& folder, const std::string& name) { return folder.empty() ? name : folder + "/" + name; }

std::string text_of(const json& index) { return index.dump(2, ' ', false, json::error_handler_t::replace) + "\n"; }

// Adds without wrapping: shapes come from headers of strangers.
void add_saturated(std::uint64_t& sum, std::uint64_t more) {
  if (__builtin_add_overflow(sum, more, &sum)) sum = UINT64_MAX;
}

std::uint64_t parameters_of(const formats::Tensor& tensor) {
  std::uint64_t count = 1;
  for (const std::uint64_t dimension : tensor.shape)
    if (__builtin_mul_overflow(count, dimension, &count)) return UINT64_MAX;
  return count;
}

const seal::TableFile* find_file(const seal::TensorTable& table, const std::string& path) {
  const auto at =
      std::lower_bound(table.files.begin(), table.files.end(), path, [](const seal::TableFile& file, const std::string& wanted) { return file.path < wanted; });
  return at != table.files.end() && at->path == path ? &*at : nullptr;
}

// Tensor name -> files that hold it: first those that are there, by path, then those that should be.
using Holders = std::map<std::string, std::vector<std::string>>;

void add_holder(std::vector<std::string>& files, const std::string& file) {
  if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

// The same weights in a second form: a .bin file's tensors that safetensors files of the same folder hold as well. Readers take the latter.
class SecondForms {
 public:
  explicit SecondForms(const seal::TensorTable& table) {
    for (const auto& file : table.files)
      if (file.format == kFirstForm)
        for (const auto& tensor : file.tensors) firsts_[folder_of(file.path)].insert(tensor.name);
  }
  bool holds(const seal::TableFile& file, const std::string& tensor) const {
    if (file.format != kSecondForm) return false;
    const auto folder = firsts_.find(folder_of(file.path));
    return folder != firsts_.end() && folder->second.contains(tensor);
  }

 private:
  static constexpr std::string_view kFirstForm = "safetensors";
  static constexpr std::string_view kSecondForm = "torch";
  std::map<std::string, std::unordered_set<std::string_view>> firsts_;  // by folder; the names lie in the table
};

Holders holders_of(const seal::TensorTable& table, const SecondForms& second) {
  Holders out;
  for (const auto& file : table.files)
    for (const auto& tensor : file.tensors)
      if (!second.holds(file, tensor.name)) add_holder(out[tensor.name], file.path);
  for (const auto& record : table.indexes)
    for (const auto& [tensor, file] : record.absent_weights) {
      const std::string path = joined(record.folder, file);
      // A name that leads out of the model is not repeated: a loader would follow it. Nor does a lost .bin matter where the tensor is there.
      const bool needed = record.family == formats::IndexFamily::safetensors || !out.contains(tensor);
      if (needed && seal::check_path(path)) add_holder(out[tensor], path);
    }
  return out;
}

struct Sums {
  std::uint64_t bytes = 0;
  std::uint64_t parameters = 0;
};

// Of every tensor that is there. Tensors of one file that lie in bytes already counted (tied weights) do not count again.
Sums sums_of(const seal::TensorTable& table, const SecondForms& second) {
  Sums sums;
  for (const auto& file : table.files) {
    std::uint64_t covered = 0;
    for (const auto& tensor : file.tensors) {
      if (second.holds(file, tensor.name)) continue;
      const std::uint64_t begin = std::max(covered, tensor.begin);
      if (tensor.end <= begin) continue;
      add_saturated(sums.bytes, tensor.end - begin);
      add_saturated(sums.parameters, parameters_of(tensor));
      covered = std::max(covered, tensor.end);
    }
  }
  return sums;
}

json digests_json(std::uint64_t size, const hash::Digest& sha256, const hash::Digest& fsverity) {
  return {{"size", size}, {"sha256", hash::to_hex(sha256)}, {"fsverity", hash::to_hex(fsverity)}};
}

// Every file as it is shown; of a mended one also as it is sealed.
json files_json(const seal::OpenedSeal& seal) {
  json out = json::array();
  for (const auto& file : seal.manifest.files) {
    const json as_sealed = digests_json(file.bytes, file.sha256, file.fsverity);
    const seal::FileFix* fix = seal::find_fix(seal.table, file.path);
    json row = fix == nullptr ? as_sealed : digests_json(fix->bytes, fix->sha256, fix->fsverity);
    row["path"] = file.path;
    if (fix != nullptr) {
      row["fixes"] = fix->kinds;
      row["sealed"] = as_sealed;
    }
    out.push_back(std::move(row));
  }
  return out;
}

json broken_json(const seal::TensorTable& table) {
  json out = json::array();
  for (const auto& file : table.files)
    if (file.problem) out.push_back({{"path", file.path}, {"problem", file.problem->name}, {"detail", file.problem->detail}});
  return out;
}

const char* state_of(const formats::IndexRecord& record) {
  if (record.verdict == formats::IndexVerdict::right) return "right";
  if (record.verdict == formats::IndexVerdict::wrong) return record.made() ? "corrected" : "wrong";
  return record.shown() ? "synthesized" : "absent";
}

json indexes_json(const seal::TensorTable& table) {
  json out = json::array();
  for (const auto& record : table.indexes) out.push_back({{"path", index_path(record)}, {"state", state_of(record)}, {"problems", record.problems}});
  return out;
}

json missing_json(const seal::TensorTable& table) {
  std::set<std::string> out;
  for (const auto& record : table.indexes)
    for (const auto& file : record.missing_files) out.insert(joined(record.folder, file));
  return out;
}

std::vector<formats::FolderShard> members_of(const seal::TensorTable& table, const formats::IndexRecord& record) {
  std::vector<formats::FolderShard> out;
  for (const auto& member : record.members) {
    const seal::TableFile* file = find_file(table, joined(record.folder, member));
    if (file != nullptr) out.push_back({member, !file->problem, &file->tensors});
  }
  return out;
}

// The publisher's number stays unless it was found wrong: with a shard missing it alone knows the whole.
std::uint64_t total_size(const formats::IndexRecord& record, const std::vector<formats::FolderShard>& members) {
  const auto is_total = [](const formats::IndexCorrection& change) { return change.tensor == kTotalSize; };
  const bool wrong = std::any_of(record.corrections.begin(), record.corrections.end(), is_total);
  return record.published_total_size && !wrong ? *record.published_total_size : formats::total_bytes_of(members);
}

}  // namespace

std::string index_path(const formats::IndexRecord& record) { return joined(record.folder, record.file_name); }

std::string root_index(const seal::OpenedSeal& seal) {
  const SecondForms second(seal.table);
  const Sums sums = sums_of(seal.table, second);
  json weights = json::object();
  json ambiguous = json::object();
  for (const auto& [tensor, files] : holders_of(seal.table, second)) {
    weights[tensor] = files.front();
    if (files.size() > 1) ambiguous[tensor] = files;
  }
  const json own = {{"model_digest", hash::to_text(seal.model_digest)},
                    {"files", files_json(seal)},
                    {"ambiguous", std::move(ambiguous)},
                    {"missing_files", missing_json(seal.table)},
                    {"broken_files", broken_json(seal.table)},
                    {"indexes", indexes_json(seal.table)}};
  return text_of({{"metadata", {{"total_size", sums.bytes}, {"total_parameters", sums.parameters}, {"vouchfs", own}}}, {"weight_map", std::move(weights)}});
}

std::string folder_index(const seal::TensorTable& table, const formats::IndexRecord& record) {
  const auto members = members_of(table, record);
  json metadata = json::parse(record.metadata, nullptr, false);
  if (!metadata.is_object()) metadata = json::object();
  metadata["total_size"] = total_size(record, members);
  json weights = json::object();
  for (auto& [tensor, file] : formats::weight_map_of(record, members))
    if (seal::check_path(file)) weights[tensor] = file;
  return text_of({{"metadata", std::move(metadata)}, {"weight_map", std::move(weights)}});
}

}  // namespace vouchfs::view
