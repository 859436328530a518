// Git LFS pointers in place of files: what the file should be, whether its content lies beside the model, how to get it.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "doctor/check_parts.h"
#include "doctor/checks.h"

namespace vouchfs::doctor {
namespace {

// The nearest folder above that holds a .git, or "".
std::string git_root(const std::string& dir) {
  std::string at = dir;
  for (int level = 0; level < 8; ++level) {
    struct stat info {};
    if (::stat((at + "/.git").c_str(), &info) == 0) return at;
    const std::size_t slash = at.rfind('/');
    if (slash == std::string::npos || slash == 0) return {};
    at.resize(slash);
  }
  return {};
}

std::string path_in_git(const ModelFacts& model, const std::string& root, const std::string& path) {
  const std::string& dir = model.place.model_dir;
  return dir.size() > root.size() ? dir.substr(root.size() + 1) + "/" + path : path;
}

std::string pull_command(const ModelFacts& model, const std::string& path) {
  const std::string root = git_root(model.place.model_dir);
  if (root.empty()) return fetch_command(model, path);
  return "git -C " + shell_word(root) + " lfs pull --include=" + shell_word(path_in_git(model, root, path));
}

// Pictures and papers beside a model: nobody loads them, and many fetch the weights alone.
bool is_beside_the_model(const std::string& path) {
  static constexpr std::array<std::string_view, 14> kEndings = {".png", ".jpg", ".jpeg", ".gif",  ".svg",   ".webp", ".pdf",
                                                                ".mp4", ".mp3", ".wav",  ".flac", ".ipynb", ".csv",  ".md"};
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return path.ends_with(ending); });
}

void say_pointer(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  Finding finding = about(model, file.path, "lfs.pointer");
  if (is_beside_the_model(file.path)) finding.severity = Severity::note;
  finding.offset = 0;
  finding.length = file.bytes;
  finding.message = "a Git LFS pointer of " + bytes_text(file.bytes) + " stands in place of the file, which has " + bytes_text(file.pointer->bytes) +
                    " and SHA-256 " + file.pointer->sha256;
  finding.command = pull_command(model, file.path);
  if (const auto content = publisher::find_content(model.place, file.pointer->sha256, file.pointer->bytes)) {
    finding.message += "; a file of that name and size lies in " + *content;
    finding.advice = "copy the content over the pointer, then check its digest";
    finding.command = "cp --remove-destination " + shell_word(*content) + " " + shell_word(file.real_path);
  } else {
    finding.message += "; its content is in no store beside the model";
  }
  findings.add(std::move(finding));
}

}  // namespace

void check_lfs_pointer(const ModelFacts& model, Findings& findings) {
  for (const FileFacts& file : model.files)
    if (file.presence == Presence::readable && file.pointer) say_pointer(model, file, findings);
}

}  // namespace vouchfs::doctor
