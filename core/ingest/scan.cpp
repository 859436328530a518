#include "ingest/scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/file.h"
#include "base/utf8.h"
#include "seal/manifest.h"

namespace vouchfs::ingest {
namespace {

constexpr std::size_t kMaxFolders = 1'000'000;  // links make a tree endless long before it is a loop
constexpr const char* kRemoveAdvice = "remove it, or ingest a directory without it";

bool is_left_out(const std::string& name) { return name == ".vouch" || name == ".git" || name == ".cache"; }

std::string special_kind(mode_t mode) {
  if (S_ISFIFO(mode)) return "a fifo";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "no regular file";
}

std::string link_target(int root_fd, const std::string& path) {
  char target[4096];
  const ssize_t length = ::readlinkat(root_fd, path.c_str(), target, sizeof target);
  return length < 0 ? std::string("?") : std::string(target, static_cast<std::size_t>(length));
}

class Scanner {
 public:
  Scanner(int root_fd, const std::string& shown_root, const std::optional<FolderId>& seal_folder, const CancelFlag& cancel)
      : root_fd_(root_fd), shown_root_(shown_root), seal_folder_(seal_folder), cancel_(cancel) {}

  Status folder(const std::string& path);
  ScanResult take();

 private:
  Result<std::vector<std::string>> names_in(const std::string& path) const;
  Status entry(const std::string& folder, const std::string& name);
  Status enter(const std::string& path, const struct stat& info);
  Status add_file(const std::string& path, const struct stat& info);
  Result<struct stat> look(const std::string& path) const;
  tl::unexpected<Error> refuse(std::string message, const std::string& path, std::string advice = kRemoveAdvice) const {
    return fail(ErrorCode::bad_format, std::move(message), shown(path), std::move(advice));
  }
  std::string shown(const std::string& path) const { return path.empty() ? shown_root_ : shown_root_ + "/" + path; }

  const int root_fd_;
  const std::string& shown_root_;
  const std::optional<FolderId>& seal_folder_;
  const CancelFlag& cancel_;
  std::vector<FolderId> ancestors_;
  std::size_t folders_ = 0;
  ScanResult result_;
};

Result<std::vector<std::string>> Scanner::names_in(const std::string& path) const {
  VOUCHFS_ASSIGN(UniqueFd fd, open_at(root_fd_, path.empty() ? "." : path, O_RDONLY | O_DIRECTORY, shown(path)));
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd.get()), ::closedir);
  if (!folder) return fail(errno_error(errno, "cannot list", shown(path)));
  fd.release();
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr && errno != 0) return fail(errno_error(errno, "cannot list", shown(path)));
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<struct stat> Scanner::look(const std::string& path) const {
  struct stat info {};
  if (::fstatat(root_fd_, path.c_str(), &info, 0) == 0) return info;
  const int problem = errno;
  struct stat link {};
  const bool is_link = ::fstatat(root_fd_, path.c_str(), &link, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(link.st_mode);
  if (problem == ELOOP) return refuse("is a link in a loop of links", path);
  if (is_link && (problem == ENOENT || problem == ENOTDIR))
    return refuse("is a dangling link: '" + link_target(root_fd_, path) + "' does not exist", path, "bring back what it points to, or remove it");
  if (problem == ENOENT) return fail(ErrorCode::changed, "vanished while the model was being scanned", shown(path), "let nothing change the model, then run this again");
  return fail(errno_error(problem, "cannot stat", shown(path)));
}

Status Scanner::add_file(const std::string& path, const struct stat& info) {
  if (result_.files.size() == seal::kMaxFiles) return refuse("is one file too many: a seal holds at most " + std::to_string(seal::kMaxFiles), path);
  const FileIdentity identity = identity_of(info);
  if (identity.bytes > seal::kMaxFileBytes) return refuse("is larger than a seal can say", path);
  result_.files.push_back({path, identity});
  return {};
}

Status Scanner::enter(const std::string& path, const struct stat& info) {
  const FolderId id{info.st_dev, info.st_ino};
  if (seal_folder_ && id == *seal_folder_) {
    result_.left_out.push_back(path);
    return {};
  }
  if (std::find(ancestors_.begin(), ancestors_.end(), id) != ancestors_.end())
    return refuse("is a link loop: it leads to a folder that it lies in", path);
  if (++folders_ > kMaxFolders) return refuse("is one folder too many: at most " + std::to_string(kMaxFolders) + " are followed", path);
  ancestors_.push_back(id);
  const Status done = folder(path);
  ancestors_.pop_back();
  return done;
}

Status Scanner::entry(const std::string& folder, const std::string& name) {
  VOUCHFS_TRY(cancel_.check());
  const std::string path = folder.empty() ? name : folder + "/" + name;
  if (is_left_out(name)) {
    result_.left_out.push_back(path);
    return {};
  }
  if (!is_utf8(name)) return refuse("has a name that is not UTF-8", path, "rename it");
  if (auto fits = seal::check_path(path); !fits) return refuse("cannot be sealed: " + fits.error().message, path, "rename it");
  VOUCHFS_ASSIGN(const struct stat info, look(path));
  if (S_ISDIR(info.st_mode)) return enter(path, info);
  if (!S_ISREG(info.st_mode)) return refuse("is " + special_kind(info.st_mode) + "; only files and folders can be sealed", path);
  return add_file(path, info);
}

Status Scanner::folder(const std::string& path) {
  if (path.empty()) {
    struct stat info {};
    if (::fstat(root_fd_, &info) != 0) return fail(errno_error(errno, "cannot stat", shown_root_));
    ancestors_.emplace_back(info.st_dev, info.st_ino);
  }
  VOUCHFS_ASSIGN(const std::vector<std::string> names, names_in(path));
  for (const std::string& name : names) VOUCHFS_TRY(entry(path, name));
  return {};
}

ScanResult Scanner::take() {
  std::sort(result_.files.begin(), result_.files.end(), [](const ScannedFile& a, const ScannedFile& b) { return a.path < b.path; });
  std::sort(result_.left_out.begin(), result_.left_out.end());
  return std::move(result_);
}

bool holds(const ScanResult& scan, const std::string& path) {
  const auto at = std::lower_bound(scan.files.begin(), scan.files.end(), path, [](const ScannedFile& file, const std::string& p) { return file.path < p; });
  // A folder of that name takes the place too; "/" sorts after "." and "-", so look for its first file on its own.
  if (at != scan.files.end() && at->path == path) return true;
  const std::string folder = path + "/";
  const auto inside = std::lower_bound(at, scan.files.end(), folder, [](const ScannedFile& file, const std::string& p) { return file.path < p; });
  return inside != scan.files.end() && inside->path.compare(0, folder.size(), folder) == 0;
}

}  // namespace

Result<ScanResult> scan_model(int root_fd, const std::string& shown_root, const std::optional<FolderId>& seal_folder, const CancelFlag& cancel) {
  Scanner scanner(root_fd, shown_root, seal_folder, cancel);
  VOUCHFS_TRY(scanner.folder(""));
  return scanner.take();
}

Result<ScanResult> scan_named(int root_fd, const std::string& shown_root, const std::vector<publisher::NamedFile>& files, const CancelFlag& cancel) {
  ScanResult result;
  for (const publisher::NamedFile& file : files) {
    VOUCHFS_TRY(cancel.check());
    const std::string shown = shown_root + "/" + file.source;
    VOUCHFS_TRY(seal::check_path(file.path));
    struct stat info {};
    const bool there = ::fstatat(root_fd, file.source.c_str(), &info, 0) == 0;
    if (!there && errno != ENOENT) return fail(errno_error(errno, "cannot stat", shown));
    if (!there)
      return fail(ErrorCode::incomplete, "is not there: the content of '" + printable(file.path) + "'", shown, "pull the model again, then ingest it");
    if (!S_ISREG(info.st_mode)) return fail(ErrorCode::bad_format, "is " + special_kind(info.st_mode) + ", not the content of '" + printable(file.path) + "'", shown);
    result.files.push_back({file.path, identity_of(info), file.source});
  }
  std::sort(result.files.begin(), result.files.end(), [](const ScannedFile& a, const ScannedFile& b) { return a.path < b.path; });
  return result;
}

Status same_files(const ScanResult& before, const ScanResult& after, const std::string& shown_root) {
  const auto differs = [&](const std::string& path, const char* how) {
    return fail(ErrorCode::changed, std::string(how) + " while the model was being ingested", shown_root + "/" + path,
                "let nothing write to the model, then run this again");
  };
  auto b = before.files.begin();
  auto a = after.files.begin();
  while (b != before.files.end() || a != after.files.end()) {
    if (b == before.files.end() || (a != after.files.end() && a->path < b->path)) return differs(a->path, "appeared");
    if (a == after.files.end() || b->path < a->path) return differs(b->path, "vanished");
    if (b->identity != a->identity) return differs(b->path, "changed");
    ++a, ++b;
  }
  return {};
}

Status check_orig_free(const ScanResult& scan, const std::string& path, const std::string& shown_root) {
  if (!holds(scan, path) || !holds(scan, path + ".orig")) return {};
  return fail(ErrorCode::bad_format, "collides with '" + path + ".orig': a view shows a file of its own as '" + path + "' and the model's as '" + path + ".orig'",
              shown_root + "/" + path, "rename one of the two");
}

}  // namespace vouchfs::ingest
