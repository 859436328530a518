#include "publisher/hf_cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/file.h"
#include "base/utf8.h"
#include "formats/shard_groups.h"

namespace vouchfs::publisher {
namespace {

namespace stdfs = std::filesystem;

constexpr std::string_view kPrefix = "models--";
constexpr std::uint64_t kMaxRefBytes = 1024;
constexpr std::size_t kListed = 20;

bool is_folder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

// recursive: the files at any depth (refs may have slashes); else the folders one level below.
std::vector<std::string> names_of(const stdfs::path& folder, bool recursive) {
  std::vector<std::string> names;
  std::error_code failed;
  for (stdfs::recursive_directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code ignored;
    if (!recursive) at.disable_recursion_pending();
    if (at->is_directory(ignored) != recursive) names.push_back(at->path().lexically_relative(folder).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kListed; ++i) text += (i == 0 ? "" : ", ") + printable(names[i]);
  if (names.size() > kListed) text += " and " + std::to_string(names.size() - kListed) + " more";
  return names.empty() ? "none" : text;
}

std::string what_is_there(const std::string& model_folder) {
  return "refs: " + listed(names_of(model_folder + "/refs", true)) + "; snapshots: " + listed(names_of(model_folder + "/snapshots", false));
}

tl::unexpected<Error> not_there(const std::string& model_folder, const std::string& why) {
  return fail(ErrorCode::not_found, why + " (" + what_is_there(model_folder) + ")", model_folder,
              "give one of these with --revision, or download the model again");
}

// The commit a ref holds, without the blanks some tools write behind it; nullopt when there is no such ref.
Result<std::optional<std::string>> read_ref(const std::string& model_folder, const std::string& name) {
  const std::string path = model_folder + "/refs/" + name;
  if (!exists(path) || is_folder(path)) return std::nullopt;  // refs/feature of refs/feature/x
  VOUCHFS_ASSIGN(std::string commit, read_whole_file(AT_FDCWD, path, kMaxRefBytes, path));
  commit.erase(commit.find_last_not_of(" \t\r\n") + 1);
  const bool plain = formats::is_plain_relative_path(commit) && commit.find('/') == std::string::npos;
  if (!plain) return fail(ErrorCode::bad_format, "the ref holds no commit: '" + printable(commit) + "'", path, "download the model again");
  return commit;
}

}  // namespace

bool is_hf_model_folder(const std::string& path) {
  const std::string name = stdfs::path(path).filename().string();
  return name.size() > kPrefix.size() && name.compare(0, kPrefix.size(), kPrefix) == 0 &&
         (is_folder(path + "/snapshots") || is_folder(path + "/refs") || is_folder(path + "/blobs"));
}

std::string hf_model_name(const std::string& model_folder) {
  std::error_code failed;
  const auto real = stdfs::canonical(model_folder, failed);
  return (failed ? stdfs::path(model_folder) : real).filename().string().substr(kPrefix.size());
}

Result<std::string> choose_snapshot(const std::string& model_folder, const std::optional<std::string>& revision) {
  const std::string wanted = revision.value_or("main");
  if (!formats::is_plain_relative_path(wanted))
    return fail(ErrorCode::invalid_argument, "'" + printable(wanted) + "' is no revision", model_folder, "give a ref or a commit");
  const auto has_snapshot = [&](const std::string& commit) { return is_folder(model_folder + "/snapshots/" + commit); };
  if (revision && wanted.find('/') == std::string::npos && has_snapshot(wanted)) return wanted;
  VOUCHFS_ASSIGN(const std::optional<std::string> commit, read_ref(model_folder, wanted));
  if (commit && has_snapshot(*commit)) return *commit;
  if (commit) return not_there(model_folder, "the ref '" + printable(wanted) + "' names the commit " + printable(*commit) + ", which has no snapshot here");
  if (revision) return not_there(model_folder, "there is no revision '" + printable(wanted) + "' here");
  const std::vector<std::string> snapshots = names_of(model_folder + "/snapshots", false);
  if (snapshots.size() == 1) return snapshots.front();
  return not_there(model_folder, snapshots.empty() ? "there is no snapshot here" : "there is no ref 'main' here, and more than one snapshot");
}

}  // namespace vouchfs::publisher
