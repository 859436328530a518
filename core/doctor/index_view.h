// index_view.h: an index beside the files it names, for the checks of how a model fits together. Internal to core/doctor.
// Layer: core/doctor (5). Views into ModelFacts, which must outlive them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.h"

namespace vouchfs::doctor {

// True when every tensor name of the file is known: its header is sound, or broken only in where tensors lie.
bool names_known(const FileFacts& file);
std::vector<std::string> tensor_names(const FileFacts& file);

// ".safetensors", ".bin" …: the ending of the files that an index of this name is for; "" when it does not tell.
std::string_view family_ending(std::string_view index_name);

struct IndexView {
  const FileFacts* file = nullptr;
  std::string folder;
  std::map<std::string, std::vector<std::string>> absent;   // file that is not there -> its tensors, as named
  std::map<std::string, std::vector<std::string>> present;  // file that is there -> its tensors, as named
  std::vector<const FileFacts*> members;                    // files named, and those of the same numbered sets; sorted by path
  std::map<std::string, std::vector<std::string>> holders;  // tensor -> files of the folder and of members that hold it, relative to the folder, sorted
};

// False: the file is no JSON, so nothing of it counts.
bool is_readable_index(const FileFacts& file);
IndexView view_of(const ModelFacts& model, const FileFacts& index);
// Every index of the model that can be read.
std::vector<IndexView> index_views(const ModelFacts& model);

// True when the folder holds weights of another kind than this index is for: with none of its own files here, it is a left-over, no missing shard.
bool is_second_kind(const ModelFacts& model, const IndexView& view);

// What the indexes say each file should hold, by its path; of two indexes that name a file the first one's word.
std::map<std::string, std::vector<std::string>> tensors_by_index(const ModelFacts& model);

// "f" of folder "a/b" -> path of the model; and back ("" folder: the same).
std::string name_in(const std::string& folder, const std::string& path);
// Files right in this folder.
std::vector<const FileFacts*> files_in(const ModelFacts& model, const std::string& folder);
// Every folder that holds weights or an index, "" for the root; sorted.
std::set<std::string> weight_folders(const ModelFacts& model);

}  // namespace vouchfs::doctor
