#include "doctor/folder_list.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/file.h"
#include "doctor/check_parts.h"

namespace vouchfs::doctor {
namespace {

constexpr std::size_t kMaxFiles = 1'000'000;
constexpr int kMaxDepth = 64;

void add_files(const std::string& root, const std::string& below, int depth, std::vector<std::string>& files) {
  if (depth > kMaxDepth) return;
  for (const std::string& name : names_in(below.empty() ? root : join_path(root, below))) {
    const std::string path = join_path(below, name);
    struct stat info {};
    if (::lstat(join_path(root, path).c_str(), &info) != 0) continue;
    if (S_ISDIR(info.st_mode))
      add_files(root, path, depth + 1, files);
    else if (files.size() < kMaxFiles && (S_ISREG(info.st_mode) || S_ISLNK(info.st_mode)))
      files.push_back(path);
  }
}

}  // namespace

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(folder.c_str()), ::closedir);
  while (const dirent* entry = opened ? ::readdir(opened.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && names.size() < kMaxFiles) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  add_files(folder, "", 0, files);
  std::sort(files.begin(), files.end());
  return files;
}

bool is_folder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_there(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

std::optional<std::string> link_text(const std::string& path) {
  char target[4096];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  if (length < 0) return std::nullopt;
  return std::string(target, static_cast<std::size_t>(length));
}

std::optional<FileSize> size_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < 0) return std::nullopt;
  return FileSize{static_cast<std::uint64_t>(info.st_size), static_cast<std::uint64_t>(info.st_blocks) * 512};
}

std::optional<std::string> read_small(const std::string& path, std::uint64_t limit) {
  auto text = read_whole_file(AT_FDCWD, path, limit, path);
  if (!text) return std::nullopt;
  return *std::move(text);
}

}  // namespace vouchfs::doctor
