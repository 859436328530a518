#include "publisher/git_repository.h"

#include "publisher/evidence.h"

#ifdef VOUCHFS_HAVE_LIBGIT2

#include <fcntl.h>
#include <git2.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/utf8.h"
#include "formats/lfs_pointer.h"
#include "formats/shard_groups.h"

namespace vouchfs::publisher {
namespace {

namespace stdfs = std::filesystem;

constexpr std::size_t kMaxTreeBytes = 64U << 20;  // of one folder
constexpr std::size_t kMaxCommitBytes = 16U << 20;
constexpr std::size_t kMaxDepth = 256;
constexpr std::size_t kMaxFolders = 1'000'000;
constexpr std::size_t kMaxFiles = 1'000'000;  // as many as a seal can hold

struct FreeGit {
  void operator()(git_repository* p) const noexcept { git_repository_free(p); }
  void operator()(git_odb* p) const noexcept { git_odb_free(p); }
  void operator()(git_odb_object* p) const noexcept { git_odb_object_free(p); }
  void operator()(git_commit* p) const noexcept { git_commit_free(p); }
  void operator()(git_tree* p) const noexcept { git_tree_free(p); }
};
template <class T>
using GitPtr = std::unique_ptr<T, FreeGit>;

// libgit2 as a reader of untrusted repositories: no configuration but the repository's own, whoever owns it. Extensions that change nothing for a reader of
// HEAD's objects are no reason to refuse: `git sparse-checkout` sets worktreeConfig, a partial clone partialClone.
class Library {
 public:
  Library() {
    git_libgit2_init();
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    for (const int level : {GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL})
      git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, "");
    const char* harmless[] = {"worktreeconfig", "partialclone", "preciousobjects", "relativeworktrees"};
    git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, harmless, std::size(harmless));
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { git_libgit2_shutdown(); }
};

void set_up_library() { static const Library library; }

tl::unexpected<Error> git_failure(const std::string& what, const std::string& folder) {
  const git_error* reason = git_error_last();
  const std::string text = reason != nullptr && reason->message != nullptr ? std::string(": ") + reason->message : std::string();
  return fail(ErrorCode::bad_format, what + text, folder);
}

std::string hex_of(const git_oid& id) {
  char hex[41] = {};  // of a SHA-1, and a NUL
  git_oid_tostr(hex, sizeof hex, &id);
  return hex;
}

bool is_model_name(const std::string& name) { return name != ".git" && name != ".cache" && name != ".vouch"; }

// "a/b" for /work/a/b in the work tree /work/; nullopt when it lies elsewhere (core.worktree may say anything).
std::optional<std::string> prefix_in(const char* work_tree, const std::string& folder) {
  std::error_code failed;
  const stdfs::path top = stdfs::canonical(work_tree, failed);
  const stdfs::path real = failed ? stdfs::path() : stdfs::canonical(folder, failed);
  if (failed) return std::nullopt;
  const std::string relative = real.lexically_relative(top).string();
  if (relative == ".") return std::string();
  return formats::is_plain_relative_path(relative) ? std::optional(relative) : std::nullopt;
}

// What libgit2 opens of a repository, it opens without a look at what it is: a fifo would hold it for ever.
bool has_odd_file(const stdfs::path& git_dir) {
  constexpr int kDeepest = 64;
  static constexpr std::string_view kNotRead[] = {"hooks", "lfs", "logs", "modules", "worktrees"};  // by libgit2 for this repository
  std::error_code failed;
  std::size_t looked_at = 0;
  for (stdfs::recursive_directory_iterator at(git_dir, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code ignored;
    const stdfs::file_status what = at->status(ignored);
    // A socket cannot be opened at all, and Git's own file watcher has one.
    if (stdfs::is_fifo(what) || stdfs::is_character_file(what) || stdfs::is_block_file(what)) return true;
    if (++looked_at > kMaxFiles || at.depth() > kDeepest) return true;
    const std::string name = at.depth() == 0 ? at->path().filename().string() : std::string();
    if (std::find(std::begin(kNotRead), std::end(kNotRead), name) != std::end(kNotRead)) at.disable_recursion_pending();
  }
  return false;
}

// The folder that holds the objects: of a worktree not its own.
stdfs::path common_dir(const stdfs::path& git_dir) {
  const auto common = read_whole_file(AT_FDCWD, (git_dir / "commondir").string(), kMaxCommitBytes, git_dir.string());
  return common ? (git_dir / common->substr(0, common->find_first_of("\r\n"))).lexically_normal() : git_dir;
}

// Where objects are borrowed from, a line each.
std::vector<stdfs::path> alternates(const stdfs::path& objects) {
  std::vector<stdfs::path> folders;
  const auto text = read_whole_file(AT_FDCWD, (objects / "info/alternates").string(), kMaxCommitBytes, objects.string());
  std::istringstream lines(text ? *text : std::string());
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && line.front() != '#') folders.push_back((objects / line).lexically_normal());
  return folders;
}

// Fails: bad_format when some file of the repository is none that can be read to its end.
Status check_files(const std::string& git_dir, const std::string& folder) {
  const stdfs::path common = common_dir(git_dir);
  std::vector<stdfs::path> left = {git_dir};
  if (common != stdfs::path(git_dir)) left.push_back(common);
  for (stdfs::path& lender : alternates(common / "objects")) left.push_back(std::move(lender));
  for (const stdfs::path& one : left)
    if (has_odd_file(one)) return fail(ErrorCode::bad_format, "it holds a fifo or a device, or far too many files: " + printable(one.string()), folder);
  return {};
}

// libgit2 takes a repository that this user may not read for none. Fails: permission, naming what cannot be read; ok when there is nothing to read.
Status check_readable(const std::string& folder) {
  std::error_code failed;
  stdfs::path top = stdfs::canonical(folder, failed);
  while (!failed && !stdfs::exists(stdfs::symlink_status(top / ".git", failed)) && top != top.root_path()) top = top.parent_path();
  for (const char* name : {".git", ".git/HEAD", ".git/config", ".git/objects", ".git/refs"}) {
    const std::string path = (top / name).string();
    if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0 && errno == EACCES) return fail(errno_error(EACCES, "cannot be read", path));
  }
  return {};
}

}  // namespace

struct GitRepository::State {
  std::string folder;
  GitPtr<git_repository> repository;
  GitPtr<git_odb> objects;
  std::string head;
  git_oid root{};      // HEAD's tree
  std::string prefix;  // of the folder in the work tree

  Status read_head();
  Status check_object(const git_oid& id, git_object_t kind, std::size_t limit) const;
  Result<GitPtr<git_tree>> tree(const git_oid& id) const;
  Result<std::optional<git_oid>> model_tree() const;
  std::optional<GitFile> file(const std::string& path, const git_oid& id) const;
};

// Sizes are looked at before libgit2 makes room for an object.
Status GitRepository::State::check_object(const git_oid& id, git_object_t kind, std::size_t limit) const {
  std::size_t bytes = 0;
  git_object_t found = GIT_OBJECT_INVALID;
  if (git_odb_read_header(&bytes, &found, objects.get(), &id) != 0) return git_failure("the object " + hex_of(id) + " cannot be read", folder);
  if (found != kind || bytes > limit) return fail(ErrorCode::bad_format, "the object " + hex_of(id) + " is of another kind or too large", folder);
  return {};
}

Status GitRepository::State::read_head() {
  git_oid commit_id{};
  const int found = git_reference_name_to_id(&commit_id, repository.get(), "HEAD");
  if (found == GIT_ENOTFOUND) return {};  // no commit yet
  if (found != 0) return git_failure("HEAD cannot be read", folder);
  VOUCHFS_TRY(check_object(commit_id, GIT_OBJECT_COMMIT, kMaxCommitBytes));
  git_commit* commit = nullptr;
  if (git_commit_lookup(&commit, repository.get(), &commit_id) != 0) return git_failure("the commit of HEAD cannot be read", folder);
  const GitPtr<git_commit> owned(commit);
  root = *git_commit_tree_id(commit);
  head = hex_of(commit_id);
  return {};
}

Result<GitPtr<git_tree>> GitRepository::State::tree(const git_oid& id) const {
  VOUCHFS_TRY(check_object(id, GIT_OBJECT_TREE, kMaxTreeBytes));
  git_tree* tree = nullptr;
  if (git_tree_lookup(&tree, repository.get(), &id) != 0) return git_failure("the folder " + hex_of(id) + " cannot be read", folder);
  return GitPtr<git_tree>(tree);
}

// The tree of the model's own folder, or nullopt when HEAD does not have it.
Result<std::optional<git_oid>> GitRepository::State::model_tree() const {
  git_oid id = root;
  for (std::size_t at = 0; at < prefix.size();) {
    const std::size_t end = std::min(prefix.find('/', at), prefix.size());
    VOUCHFS_ASSIGN(const GitPtr<git_tree> here, tree(id));
    const git_tree_entry* entry = git_tree_entry_byname(here.get(), prefix.substr(at, end - at).c_str());
    if (entry == nullptr || git_tree_entry_filemode(entry) != GIT_FILEMODE_TREE) return std::optional<git_oid>();
    id = *git_tree_entry_id(entry);
    at = end + 1;
  }
  return std::optional(id);
}

// nullopt when the blob is not here.
std::optional<GitFile> GitRepository::State::file(const std::string& path, const git_oid& id) const {
  std::size_t bytes = 0;
  git_object_t kind = GIT_OBJECT_INVALID;
  if (git_odb_read_header(&bytes, &kind, objects.get(), &id) != 0 || kind != GIT_OBJECT_BLOB) return std::nullopt;
  GitFile file{path, hex_of(id), bytes, std::nullopt};
  if (bytes >= formats::kMaxLfsPointerBytes) return file;
  git_odb_object* object = nullptr;
  if (git_odb_read(&object, objects.get(), &id) != 0) return std::nullopt;
  const GitPtr<git_odb_object> owned(object);
  file.text = std::string(static_cast<const char*>(git_odb_object_data(object)), git_odb_object_size(object));
  return file;
}

GitRepository::GitRepository(std::unique_ptr<State> state) : state_(std::move(state)) {}
GitRepository::~GitRepository() = default;
const std::string& GitRepository::head() const noexcept { return state_->head; }
bool can_read_git() noexcept { return true; }

Result<std::unique_ptr<GitRepository>> GitRepository::around(const std::string& folder) {
  set_up_library();
  auto state = std::make_unique<State>();
  state->folder = folder;
  git_buf found = {};
  const int discovered = git_repository_discover(&found, folder.c_str(), 0, nullptr);
  const std::string git_dir = discovered == 0 ? std::string(found.ptr, found.size) : std::string();
  git_buf_dispose(&found);
  if (discovered == 0) VOUCHFS_TRY(check_files(git_dir, folder));
  git_repository* repository = nullptr;
  const int opened = git_repository_open_ext(&repository, folder.c_str(), 0, nullptr);
  if (opened == GIT_ENOTFOUND) {
    VOUCHFS_TRY(check_readable(folder));
    return std::unique_ptr<GitRepository>();
  }
  if (opened != 0) return git_failure("cannot be opened", folder);
  state->repository.reset(repository);
  const char* work_tree = git_repository_workdir(repository);
  const auto prefix = work_tree != nullptr ? prefix_in(work_tree, folder) : std::nullopt;
  if (!prefix) return std::unique_ptr<GitRepository>();
  state->prefix = *prefix;
  git_odb* objects = nullptr;
  if (git_repository_odb(&objects, repository) != 0) return git_failure("its objects cannot be opened", folder);
  state->objects.reset(objects);
  VOUCHFS_TRY(state->read_head());
  return std::unique_ptr<GitRepository>(new GitRepository(std::move(state)));
}

Status GitRepository::for_each_file(const std::function<void(GitFile&&)>& take, std::size_t& lacking) const {
  struct Folder {
    git_oid id;
    std::string path;  // with its slash, or ""
    std::size_t depth;
  };
  VOUCHFS_ASSIGN(const std::optional<git_oid> top, state_->model_tree());
  std::vector<Folder> left;
  if (top) left.push_back({*top, "", 0});
  std::size_t folders = 0;
  std::size_t files = 0;
  while (!left.empty()) {
    const Folder here = std::move(left.back());
    left.pop_back();
    if (++folders > kMaxFolders || here.depth > kMaxDepth) return fail(ErrorCode::bad_format, "HEAD has too many folders", state_->folder);
    VOUCHFS_ASSIGN(const GitPtr<git_tree> tree, state_->tree(here.id));
    for (std::size_t i = 0; i < git_tree_entrycount(tree.get()); ++i) {
      const git_tree_entry* entry = git_tree_entry_byindex(tree.get(), i);
      const std::string name = git_tree_entry_name(entry);
      const std::string path = here.path + name;
      if (!is_model_name(name) || !formats::is_plain_relative_path(path) || !is_utf8(path)) continue;
      const git_filemode_t mode = git_tree_entry_filemode(entry);
      if (mode == GIT_FILEMODE_TREE) left.push_back({*git_tree_entry_id(entry), path + "/", here.depth + 1});
      if (mode != GIT_FILEMODE_BLOB && mode != GIT_FILEMODE_BLOB_EXECUTABLE) continue;  // the blob of a link is where it leads
      if (++files > kMaxFiles) return fail(ErrorCode::bad_format, "HEAD has too many files", state_->folder);
      auto file = state_->file(path, *git_tree_entry_id(entry));
      if (file)
        take(*std::move(file));
      else
        ++lacking;
    }
  }
  return {};
}

}  // namespace vouchfs::publisher

#else

namespace vouchfs::publisher {

struct GitRepository::State {
  std::string head;
};
GitRepository::GitRepository(std::unique_ptr<State> state) : state_(std::move(state)) {}
GitRepository::~GitRepository() = default;
const std::string& GitRepository::head() const noexcept { return state_->head; }
bool can_read_git() noexcept { return false; }
Result<std::unique_ptr<GitRepository>> GitRepository::around(const std::string&) { return std::unique_ptr<GitRepository>(); }
Status GitRepository::for_each_file(const std::function<void(GitFile&&)>&, std::size_t&) const { return {}; }

}  // namespace vouchfs::publisher

#endif
