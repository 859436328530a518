// Downloads that have not ended, told by what download tools leave beside the file or in its place.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "doctor/file_names.h"
#include "doctor/folder_list.h"
#include "formats/weight_file.h"

namespace vouchfs::doctor {
namespace {

// aria2 writes under the file's own name, often with all its size reserved, and keeps this beside it until the last byte is there. The other tools write
// under the name with an ending and rename at the end; browsers may hold the true name with an empty file meanwhile.
constexpr std::string_view kControlEnding = ".aria2";

bool is_control(const FileFacts& file) { return file.path.ends_with(kControlEnding); }

std::string path_when_done(const FileFacts& file) { return join_path(folder_of(file.path), std::string(name_when_done(base_name(file.path)))); }

// Size of the file that the download is of; nullopt when it is not there. Of a file given by itself the folder around it is asked.
std::optional<std::uint64_t> bytes_of_target(const ModelFacts& model, const FileFacts& partial) {
  if (const FileFacts* target = model.find(path_when_done(partial))) return target->bytes;
  if (!model.single_file) return std::nullopt;
  const std::string tail = base_name(partial.real_path);
  const auto size = size_of(partial.real_path.substr(0, partial.real_path.size() - tail.size()) + std::string(name_when_done(tail)));
  return size ? std::optional(size->bytes) : std::nullopt;
}

bool has_weights_beside(const ModelFacts& model, const FileFacts& partial) {
  return std::any_of(model.files.begin(), model.files.end(), [&](const FileFacts& file) {
    const bool weights = file.is_weights || formats::weight_format_of_name(base_name(file.path));
    return weights && !is_partial_name(base_name(file.path)) && folder_of(file.path) == folder_of(partial.path);
  });
}

// `file`: under which name the bytes are that came so far.
void say_running(const ModelFacts& model, const std::string& file, const std::string& control, std::uint64_t bytes, Findings& findings) {
  Finding finding = about(model, file, "file.unfinished_download");
  finding.message = "the download of it by aria2 has not ended: its control file " + printable(control) + " is there, and the size of " + bytes_text(bytes) +
                    " may be reserved, not written";
  finding.advice =
      "let aria2 go on, or start it again: aria2c -c, the address as before, in the same folder; keep the control file, it says which parts are here";
  findings.add(std::move(finding));
}

void say_unfinished(const ModelFacts& model, const FileFacts& partial, Findings& findings) {
  const std::string name(name_when_done(base_name(partial.path)));
  Finding finding = about(model, partial.path, "file.unfinished_download");
  finding.message = "the download of " + printable(name) +
                    " has not ended: " + (is_control(partial) ? "only its control file is here" : bytes_text(partial.bytes) + " are here under this name");
  finding.loader = {"No such file or directory: \"" + printable(name) + "\""};
  findings.add(std::move(finding));
}

void say_left(const ModelFacts& model, const FileFacts& partial, bool is_done, Findings& findings) {
  Finding finding = about(model, partial.path, "file.stale_partial");
  finding.message = "what an unfinished download left behind, " + bytes_text(partial.bytes);
  if (!is_done && is_weights_on_the_way(base_name(partial.path))) {
    finding.message += "; " + printable(std::string(name_when_done(base_name(partial.path)))) + " itself is not here";
    finding.advice = "let the download go on if the file is wanted; else remove what is left of it";
  }
  findings.add(std::move(finding));
}

void check_partial(const ModelFacts& model, const FileFacts& partial, Findings& findings) {
  const auto target = bytes_of_target(model, partial);
  if (target && is_control(partial)) return say_running(model, model.single_file ? partial.path : path_when_done(partial), partial.path, *target, findings);
  const bool is_done = target && *target > 0;
  const bool is_missed = is_weights_on_the_way(base_name(partial.path)) && (target || !has_weights_beside(model, partial));
  if (is_done || !is_missed) return say_left(model, partial, is_done, findings);
  say_unfinished(model, partial, findings);
}

}  // namespace

void check_downloads(const ModelFacts& model, Findings& findings) {
  for (const FileFacts& file : model.files) {
    if (is_partial_name(base_name(file.path))) {
      check_partial(model, file, findings);
    } else if (const std::string control = file.real_path + std::string(kControlEnding); model.single_file && is_there(control)) {
      say_running(model, file.path, base_name(control), file.bytes, findings);
    }
  }
}

// What such bytes look like is no news: they are not the file yet. Nor is the empty file with which a browser holds the name.
std::vector<Finding> leave_out_partials(std::vector<Finding> findings) {
  const auto is_own = [](const Finding& finding) { return finding.code == "file.unfinished_download" || finding.code == "file.stale_partial"; };
  std::set<std::string> partial;
  std::set<std::string> held;
  for (const Finding& finding : findings) {
    if (!is_own(finding)) continue;
    partial.insert(finding.file);
    held.emplace(name_when_done(finding.file));
  }
  const auto is_no_news = [&](const Finding& finding) {
    return !is_own(finding) && (partial.count(finding.file) != 0 || (finding.code == "file.empty" && held.count(finding.file) != 0));
  };
  findings.erase(std::remove_if(findings.begin(), findings.end(), is_no_news), findings.end());
  return findings;
}

}  // namespace vouchfs::doctor
