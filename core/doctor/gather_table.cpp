// The tensor table of a model as an ingest would write it, from the facts.
#include <map>

#include "doctor/check_parts.h"
#include "doctor/gather_parts.h"

namespace vouchfs::doctor {
namespace {

struct Folder {
  std::vector<formats::FolderShard> shards;
  std::vector<formats::FolderIndex> indexes;
  bool other_index = false;
};

std::optional<seal::TableFile> table_file(const FileFacts& file) {
  seal::TableFile row;
  row.path = file.path;
  if (file.safetensors) {
    row = {file.path, "safetensors", file.safetensors->tensors, file.safetensors->problem};
  } else if (file.gguf) {
    row = {file.path, "gguf", file.gguf->tensors, file.gguf->problem};
  } else if (file.torch && file.is_weights) {
    row = {file.path, "torch", file.torch->tensors, file.torch->problem};
  } else {
    return std::nullopt;
  }
  return row;
}

formats::FolderShard shard_of(const seal::TableFile& file, std::string name) {
  return {std::move(name), !file.problem, file.problem ? nullptr : &file.tensors};
}

// An index may name shards in folders below its own.
void add_shards_below(const std::string& name, const seal::TensorTable& table, Folder& folder) {
  const std::string prefix = name.empty() ? "" : name + "/";
  for (const seal::TableFile& file : table.files)
    if (file.path.starts_with(prefix) && file.path.find('/', prefix.size()) != std::string::npos)
      folder.shards.push_back(shard_of(file, file.path.substr(prefix.size())));
}

// A weight file that is there, whatever its state: it must not count as missing.
void add_unread(const ModelFacts& model, std::map<std::string, Folder>& folders) {
  for (const FileFacts& file : model.files)
    if (!table_file(file) && !file.index) folders[folder_of(file.path)].shards.push_back({base_name(file.path), false, nullptr});
}

}  // namespace

seal::TensorTable make_table(const ModelFacts& model) {
  seal::TensorTable table;
  for (const FileFacts& file : model.files)
    if (auto row = table_file(file)) table.files.push_back(*std::move(row));
  std::map<std::string, Folder> folders;
  for (const seal::TableFile& file : table.files) folders[folder_of(file.path)].shards.push_back(shard_of(file, base_name(file.path)));
  add_unread(model, folders);
  for (const FileFacts& file : model.files)
    if (file.index) folders[folder_of(file.path)].indexes.push_back({base_name(file.path), *file.index});
  for (auto& [name, folder] : folders) {
    if (!folder.indexes.empty()) add_shards_below(name, table, folder);
    for (auto& record : formats::judge_folder(name, folder.shards, folder.indexes, folder.other_index)) table.indexes.push_back(std::move(record));
  }
  return table;
}

}  // namespace vouchfs::doctor
