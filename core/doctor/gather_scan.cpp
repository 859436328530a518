// Names below a model. Unlike an ingest, which refuses what it cannot seal, this keeps every trouble as a fact.
#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "doctor/check_parts.h"
#include "doctor/gather_parts.h"

namespace vouchfs::doctor {
namespace {

constexpr std::size_t kMaxEntries = 1'000'000;  // links can make a tree endless
constexpr std::size_t kMaxDepth = 64;

bool is_left_out(const std::string& name) { return name == ".vouch" || name == ".git" || name == ".cache"; }

std::string link_target(const std::string& path) {
  char target[4096];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  return length < 0 ? std::string("?") : std::string(target, static_cast<std::size_t>(length));
}

std::string errno_text(int problem) { return std::generic_category().message(problem); }

Presence presence_of(int problem, bool is_link) {
  if (problem == ELOOP) return Presence::loop;
  if (problem == EACCES || problem == EPERM) return Presence::unreadable;
  return is_link && (problem == ENOENT || problem == ENOTDIR) ? Presence::dangling : Presence::io_error;
}

void take_stat(const struct stat& info, FileFacts& file) {
  file.bytes = info.st_size < 0 ? 0 : static_cast<std::uint64_t>(info.st_size);
  file.mode = info.st_mode;
  file.owner = info.st_uid;
  file.group = info.st_gid;
  file.mtime_ns = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

class Scanner {
 public:
  Scanner(ModelFacts& model, const CancelFlag& cancel) : model_(model), cancel_(cancel) {}

  Status folder(const std::string& path) {
    VOUCHFS_TRY(cancel_.check());
    const std::string real = real_path(path);
    struct stat info {};
    if (path.empty() && ::stat(real.c_str(), &info) == 0) ancestors_.insert({info.st_dev, info.st_ino});
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(real.c_str()), ::closedir);
    if (!folder) return trouble(path, errno);
    std::vector<std::string> names;
    for (;;) {
      errno = 0;
      const dirent* entry = ::readdir(folder.get());
      if (entry == nullptr && errno != 0) VOUCHFS_TRY(trouble(path, errno));
      if (entry == nullptr) break;
      const std::string name = entry->d_name;
      if (name != "." && name != ".." && !is_left_out(name)) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) VOUCHFS_TRY(entry(join_path(path, name)));
    return {};
  }

 private:
  using FolderId = std::pair<dev_t, ino_t>;
  std::string real_path(const std::string& path) const { return path.empty() ? model_.place.model_dir : model_.place.model_dir + "/" + path; }

  // The model itself must be there; what else cannot be listed is a fact.
  Status trouble(const std::string& path, int problem) {
    if (path.empty() && (problem == ENOENT || problem == ENOTDIR)) return fail(errno_error(problem, "cannot open", model_.place.model_dir));
    struct stat info {};
    const bool known = ::stat(real_path(path).c_str(), &info) == 0;
    model_.folder_trouble.push_back({path, errno_text(problem) + (known ? " (" + mode_text(info.st_mode, info.st_uid, info.st_gid) + ")" : ""), problem});
    return {};
  }

  Status entry(const std::string& path) {
    if (++entries_ > kMaxEntries) return fail(ErrorCode::bad_format, "more than a million entries: links may make the tree endless", model_.place.model_dir);
    FileFacts file = stat_file(path, real_path(path));
    if (S_ISDIR(file.mode) && file.presence == Presence::readable) return folder_entry(std::move(file));
    model_.files.push_back(std::move(file));
    return {};
  }

  // A folder under the name of a weight file is what loaders open and fail on.
  Status folder_entry(FileFacts folder_facts) {
    const std::string name = base_name(folder_facts.path);
    if (name.ends_with(".safetensors") || name.ends_with(".gguf")) {
      FileFacts odd = folder_facts;
      odd.presence = Presence::special;
      model_.files.push_back(std::move(odd));
    }
    return enter(std::move(folder_facts));
  }

  Status enter(FileFacts folder_facts) {
    struct stat info {};
    if (::stat(folder_facts.real_path.c_str(), &info) != 0) return trouble(folder_facts.path, errno);
    const FolderId id{info.st_dev, info.st_ino};
    if (ancestors_.count(id) != 0 || ancestors_.size() >= kMaxDepth) {
      folder_facts.presence = Presence::loop;
      folder_facts.link_target = link_target(folder_facts.real_path);
      model_.files.push_back(std::move(folder_facts));
      return {};
    }
    ancestors_.insert(id);
    model_.folders.push_back(folder_facts.path);
    Status done = folder(folder_facts.path);
    ancestors_.erase(id);
    return done;
  }

  ModelFacts& model_;
  const CancelFlag& cancel_;
  std::set<FolderId> ancestors_;
  std::size_t entries_ = 0;
};

}  // namespace

FileFacts stat_file(const std::string& path, const std::string& real_path) {
  FileFacts file;
  file.path = path;
  file.real_path = real_path;
  struct stat info {};
  if (::stat(real_path.c_str(), &info) == 0) {
    take_stat(info, file);
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) file.presence = Presence::special;
    return file;
  }
  const int problem = errno;
  struct stat link {};
  const bool is_link = ::lstat(real_path.c_str(), &link) == 0 && S_ISLNK(link.st_mode);
  file.presence = presence_of(problem, is_link);
  file.trouble = errno_text(problem);
  if (is_link) file.link_target = link_target(real_path);
  return file;
}

Status scan_folder(ModelFacts& model, const CancelFlag& cancel) {
  VOUCHFS_TRY(Scanner(model, cancel).folder(""));
  std::sort(model.files.begin(), model.files.end(), [](const FileFacts& a, const FileFacts& b) { return a.path < b.path; });
  std::sort(model.folders.begin(), model.folders.end());
  return {};
}

}  // namespace vouchfs::doctor
