#include "ingest/table_builder.h"

#include <algorithm>
#include <map>

namespace vouchfs::ingest {
namespace {

using formats::IndexRecord;
using formats::IndexVerdict;

struct Folder {
  std::vector<formats::FolderShard> shards;
  std::vector<formats::FolderIndex> indexes;
  bool other_index = false;
};

// Every file that an index may name, by path.
using ShardsByPath = std::map<std::string, formats::FolderShard>;

ShardsByPath shards_of(const seal::TensorTable& table, const std::vector<SealedFile>& files) {
  ShardsByPath shards;
  for (const seal::TableFile& file : table.files) shards[file.path] = {{}, !file.problem, file.problem ? nullptr : &file.tensors};
  // .h5 and .msgpack, whose headers are not read, and a .bin that is no torch file (a pointer, a web page) is there all the same.
  for (const SealedFile& file : files)
    if (formats::shard_family_of(file_name_of(file.entry.path))) shards.emplace(file.entry.path, formats::FolderShard{});
  for (auto& [path, shard] : shards) shard.file_name = std::string(file_name_of(path));
  return shards;
}

// An index may name shards in folders below its own: "experts/model-00001-of-00002.safetensors".
void add_shards_below(const std::string& name, const ShardsByPath& shards, Folder& folder) {
  const std::string prefix = name.empty() ? "" : name + "/";
  for (auto at = shards.lower_bound(prefix); at != shards.end() && at->first.starts_with(prefix); ++at) {
    if (at->first.find('/', prefix.size()) == std::string::npos) continue;
    folder.shards.push_back(at->second);
    folder.shards.back().file_name = at->first.substr(prefix.size());
  }
}

std::string path_in(const std::string& folder, const std::string& name) { return folder.empty() ? name : folder + "/" + name; }

// What a view replaces as a whole is kept beside it as it was.
bool is_replaced(const std::string& path, const seal::TensorTable& table) {
  return std::any_of(table.indexes.begin(), table.indexes.end(), [&](const IndexRecord& record) {
    return record.verdict == IndexVerdict::wrong && record.made() && path_in(record.folder, record.file_name) == path;
  });
}

std::string header_warning(const seal::TableFile& file) {
  const formats::HeaderProblem& problem = *file.problem;
  return file.path + ": its header cannot be used: " + problem.name + " (" + problem.text + ")" + (problem.detail.empty() ? "" : ": " + problem.detail) +
         "; sealed as bytes, its tensors are unknown";
}

std::string wrong_index_warning(const IndexRecord& record) {
  std::string text = path_in(record.folder, record.file_name) + ": the index is wrong";
  if (!record.corrections.empty()) {
    const formats::IndexCorrection& first = record.corrections.front();
    text += " in " + std::to_string(record.corrections.size()) + (record.corrections.size() == 1 ? " entry" : " entries") + " (" + first.tensor + ": '" +
            first.was + "' should be '" + first.now + "')";
  }
  if (!record.problems.empty()) text += ": " + record.problems.front();
  if (record.made()) return text + "; a mount serves the corrected one";
  if (!formats::has_headers(record.family))
    return text + "; a mount serves it as it is, because headers of " + std::string(formats::shard_ending(record.family)) + " files are not read";
  return text + "; a mount serves it as it is, because of " + record.unknown_files.front() + " no tensor is known";
}

void add_index_warnings(const IndexRecord& record, std::vector<std::string>& warnings) {
  if (record.verdict == IndexVerdict::wrong) warnings.push_back(wrong_index_warning(record));
  for (const std::string& missing : record.missing_files)
    warnings.push_back(path_in(record.folder, missing) + ": is missing; the model is incomplete" +
                       (record.verdict == IndexVerdict::absent ? " (the other shards are numbered so)" : " (" + record.file_name + " names it)"));
  if (!record.duplicates.empty())
    warnings.push_back(path_in(record.folder, record.file_name) + ": " + std::to_string(record.duplicates.size()) + " tensors are in several files ('" +
                       record.duplicates.front() + "'), so no index is made up");
}

}  // namespace

seal::TensorTable build_table(std::vector<SealedFile>& files) {
  seal::TensorTable table;
  for (SealedFile& file : files)
    if (file.table) table.files.push_back(std::move(*file.table));
  const ShardsByPath shards = shards_of(table, files);
  std::map<std::string, Folder> folders;
  for (const auto& [path, shard] : shards) folders[std::string(folder_of(path))].shards.push_back(shard);
  for (SealedFile& file : files) {
    const std::string name(file_name_of(file.entry.path));
    const std::string folder(folder_of(file.entry.path));
    if (file.index)
      folders[folder].indexes.push_back({name, std::move(*file.index)});
    else if (formats::is_index_name(name))
      folders[folder].other_index = true;
  }
  for (auto& [name, folder] : folders) {
    if (!folder.indexes.empty()) add_shards_below(name, shards, folder);
    for (IndexRecord& record : formats::judge_folder(name, folder.shards, folder.indexes, folder.other_index)) table.indexes.push_back(std::move(record));
  }
  for (SealedFile& file : files)
    if (file.fix && !is_replaced(file.fix->path, table)) table.fixes.push_back(std::move(*file.fix));
  return table;
}

std::vector<std::string> table_warnings(const seal::TensorTable& table) {
  std::vector<std::string> warnings;
  for (const seal::TableFile& file : table.files)
    if (file.problem) warnings.push_back(header_warning(file));
  for (const IndexRecord& record : table.indexes) add_index_warnings(record, warnings);
  return warnings;
}

Status check_strict(const seal::TensorTable& table, const std::string& shown_root) {
  const std::vector<std::string> found = table_warnings(table);
  if (found.empty()) return {};
  const auto refuse = [&](ErrorCode code, const std::string& path) {
    const std::string more = found.size() > 1 ? " (and " + std::to_string(found.size() - 1) + " more)" : "";
    return fail(code, "refused by --strict: " + found.front() + more, shown_root + "/" + path, "put it right, or ingest without --strict");
  };
  for (const seal::TableFile& file : table.files)
    if (file.problem) return refuse(ErrorCode::bad_format, file.path);
  for (const IndexRecord& record : table.indexes)
    if (record.verdict == IndexVerdict::wrong) return refuse(ErrorCode::bad_format, path_in(record.folder, record.file_name));
  for (const IndexRecord& record : table.indexes)
    if (!record.missing_files.empty()) return refuse(ErrorCode::incomplete, path_in(record.folder, record.missing_files.front()));
  return {};  // duplicates alone break no rule of the format
}

}  // namespace vouchfs::ingest
