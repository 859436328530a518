// Looks for the content of a digest in the stores beside a model.
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/file.h"
#include "publisher/evidence.h"

namespace vouchfs::publisher {
namespace {

namespace stdfs = std::filesystem;

constexpr std::uint64_t kMaxGitFile = 16 << 10;
constexpr std::string_view kGitDir = "gitdir: ";

std::optional<std::string> first_line(const stdfs::path& file) {
  auto text = read_whole_file(AT_FDCWD, file.string(), kMaxGitFile, file.string());
  if (!text) return std::nullopt;
  text->resize(std::min(text->find_first_of("\r\n"), text->size()));
  return *std::move(text);
}

// Where the objects of a repository lie whose work tree has this `.git`: itself, or, for a worktree or submodule, what its file points to.
std::optional<stdfs::path> common_git_dir(const stdfs::path& dot_git) {
  std::error_code failed;
  if (stdfs::is_directory(dot_git, failed)) return dot_git;
  const auto line = first_line(dot_git);
  if (!line || line->compare(0, kGitDir.size(), kGitDir) != 0) return std::nullopt;
  const stdfs::path git_dir = (dot_git.parent_path() / line->substr(kGitDir.size())).lexically_normal();
  const auto common = first_line(git_dir / "commondir");
  return common ? (git_dir / *common).lexically_normal() : git_dir;
}

// Git LFS keeps what it downloaded as lfs/objects/ab/cd/abcd…
std::optional<stdfs::path> lfs_object(const std::string& model_dir, const std::string& sha256) {
  std::error_code failed;
  for (stdfs::path folder = stdfs::canonical(model_dir, failed); !failed && !folder.empty(); folder = folder.parent_path()) {
    const stdfs::path dot_git = folder / ".git";
    if (stdfs::exists(dot_git, failed)) {
      const auto git_dir = common_git_dir(dot_git);
      return git_dir ? std::optional(*git_dir / "lfs/objects" / sha256.substr(0, 2) / sha256.substr(2, 2) / sha256) : std::nullopt;
    }
    if (folder == folder.root_path()) break;
  }
  return std::nullopt;
}

std::vector<std::string> candidates(const Place& place, const std::string& sha256) {
  if (place.kind == PlaceKind::hf_snapshot) return {place.cache_dir + "/blobs/" + sha256};
  if (place.kind == PlaceKind::ollama) return {place.model_dir + "/sha256-" + sha256, place.model_dir + "/sha256:" + sha256};
  const auto object = lfs_object(place.model_dir, sha256);
  return object ? std::vector<std::string>{object->string()} : std::vector<std::string>{};
}

}  // namespace

std::optional<std::string> find_content(const Place& place, const std::string& sha256, std::uint64_t bytes) {
  if (sha256.size() != 64) return std::nullopt;
  for (const std::string& path : candidates(place, sha256)) {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) == bytes) return path;
  }
  return std::nullopt;
}

}  // namespace vouchfs::publisher
