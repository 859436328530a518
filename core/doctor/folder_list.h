// folder_list.h: small looks at folders and files of a store. What cannot be listed or read counts as empty: other checks say why.
// Layer: core/doctor (5). Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vouchfs::doctor {

// Names in a folder, sorted, without "." and "..".
std::vector<std::string> names_in(const std::string& folder);
// Regular files below a folder, relative to it, sorted; links are not followed into folders. At most a million.
std::vector<std::string> files_below(const std::string& folder);
bool is_folder(const std::string& path);
bool is_there(const std::string& path);  // also a link to nothing
// The target of a link as written; nullopt for what is no link.
std::optional<std::string> link_text(const std::string& path);

struct FileSize {
  std::uint64_t bytes = 0;
  std::uint64_t allocated = 0;  // on disk: less than bytes in a file with holes
};
// Of a regular file, links followed.
std::optional<FileSize> size_of(const std::string& path);
// A small file whole; nullopt when it is no regular file, larger than limit, or cannot be read.
std::optional<std::string> read_small(const std::string& path, std::uint64_t limit);

}  // namespace vouchfs::doctor
