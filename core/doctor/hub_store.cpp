// One folder models--org--name of a Hugging Face cache: refs, snapshots, blobs.
// Source: huggingface_hub: a ref is read as it is, so that a newline at its end makes it name no snapshot.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/folder_list.h"
#include "doctor/hub_partials.h"
#include "doctor/stores.h"

namespace vouchfs::doctor {
namespace {

constexpr std::uint64_t kMaxRefBytes = 4096;

struct HubFolder {
  std::string dir;
  std::string prefix;
  bool of_snapshot = false;
  std::vector<std::string> snapshots;
};

Finding about_hub(const HubFolder& hub, const std::string& name, const char* code) {
  Finding finding;
  finding.code = code;
  finding.file = hub.prefix + name;
  return finding;
}

std::string download_command(const HubFolder& hub) {
  std::string name = base_name(hub.dir);
  name.erase(0, std::min(name.size(), std::string("models--").size()));
  const std::size_t bar = name.find("--");
  if (bar != std::string::npos) name = name.substr(0, bar) + "/" + name.substr(bar + 2);
  return name.empty() ? std::string() : "hf download " + shell_word(name) + " --cache-dir " + shell_word(folder_of(hub.dir).empty() ? "." : folder_of(hub.dir));
}

std::string trimmed(std::string text) {
  const auto is_blank = [](char c) { return c == '\n' || c == '\r' || c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.back())) text.pop_back();
  while (!text.empty() && is_blank(text.front())) text.erase(0, 1);
  return text;
}

std::string write_ref(const HubFolder& hub, const std::string& ref, const std::string& commit) {
  return "printf %s " + shell_word(commit) + " > " + shell_word(hub.dir + "/refs/" + ref);
}

bool has_snapshot(const HubFolder& hub, const std::string& commit) { return std::binary_search(hub.snapshots.begin(), hub.snapshots.end(), commit); }

// Whether the ref is good. `main` is what readers take when no revision is named; other refs are a warning.
bool check_ref(const HubFolder& hub, const std::string& ref, Findings& findings) {
  const auto text = read_small(hub.dir + "/refs/" + ref, kMaxRefBytes);
  const std::string commit = trimmed(text.value_or(""));
  if (text && *text == commit && has_snapshot(hub, commit)) return true;
  Finding finding = about_hub(hub, "refs/" + ref, "hub.bad_ref");
  if (hub.of_snapshot || (ref != "main" && !hub.snapshots.empty())) finding.severity = Severity::warning;
  if (!text) {
    finding.message = "the ref cannot be read";
  } else if (commit.empty()) {
    finding.message = "the ref is empty: a crash or a full disk leaves such a file";
  } else if (*text != commit) {
    finding.offset = commit.size();
    finding.length = text->size() - commit.size();
    finding.message = "the ref ends with a newline or blanks, and libraries take them for part of the commit" +
                      std::string(has_snapshot(hub, commit) ? "; without them it is right" : "");
  } else {
    finding.message = "the ref names " + printable(commit) + ", of which there is no snapshot; there " + (hub.snapshots.size() == 1 ? "is " : "are ") +
                      (hub.snapshots.empty() ? "none" : list_text(hub.snapshots, 3));
  }
  if (has_snapshot(hub, commit))
    finding.command = write_ref(hub, ref, commit);
  else if (hub.snapshots.size() == 1)
    finding.command = write_ref(hub, ref, hub.snapshots.front());
  else
    finding.command = download_command(hub);
  findings.add(std::move(finding));
  return false;
}

void check_refs(const HubFolder& hub, Findings& findings) {
  const std::vector<std::string> refs = files_below(hub.dir + "/refs");
  for (const std::string& ref : refs) check_ref(hub, ref, findings);
  if (!refs.empty() || hub.snapshots.empty()) return;
  Finding finding = about_hub(hub, "refs", "hub.no_ref");
  finding.message = "no ref: " + count_text(hub.snapshots.size(), "snapshot") + " here, and libraries that are not told the commit find none of them";
  if (hub.snapshots.size() == 1) finding.command = "mkdir -p " + shell_word(hub.dir + "/refs") + " && " + write_ref(hub, "main", hub.snapshots.front());
  findings.add(std::move(finding));
}

// Those that belong to a snapshot are said with it.
void check_partials(const HubFolder& hub, Findings& findings) {
  for (const HubPartial& partial : hub_partials(hub.dir)) {
    if (!partial.owners.empty()) continue;
    Finding finding = about_hub(hub, "blobs/" + partial.name, "hub.incomplete_download");
    if (partial.finished || partial.listed_elsewhere) finding.severity = Severity::note;
    finding.offset = partial.bytes;
    finding.message = partial.finished ? "left over from a download that was finished since: the blob is whole beside it"
                                       : "a download is not finished: " + progress_text(partial.bytes, std::nullopt) +
                                             "; which file it belongs to is not known: no listing or link names " + partial.etag;
    if (partial.listed_elsewhere) finding.message += ", so it is of another revision";
    finding.command = partial.finished ? "rm " + shell_word(hub.dir + "/blobs/" + partial.name) : download_command(hub);
    findings.add(std::move(finding));
  }
}

// Blobs that links of snapshots lead to. Where snapshots hold copies, blobs are not expected to be linked to.
std::set<std::string> linked_blobs(const HubFolder& hub) {
  std::set<std::string> linked;
  for (const std::string& revision : hub.snapshots) {
    const std::string root = hub.dir + "/snapshots/" + revision;
    for (const std::string& path : files_below(root))
      if (const auto target = link_text(join_path(root, path))) linked.insert(base_name(*target));
  }
  return linked;
}

void check_unused(const HubFolder& hub, Findings& findings) {
  const std::set<std::string> linked = linked_blobs(hub);
  if (linked.empty()) return;
  std::vector<std::string> unused;
  std::uint64_t bytes = 0;
  for (const std::string& name : names_in(hub.dir + "/blobs")) {
    if (linked.count(name) != 0 || etag_of_partial(name)) continue;
    unused.push_back(name);
    bytes += size_of(hub.dir + "/blobs/" + name).value_or(FileSize{}).bytes;
  }
  if (unused.empty()) return;
  Finding finding = about_hub(hub, "blobs/" + unused.front(), "store.unused_blob");
  finding.message = count_text(unused.size(), "blob") + " that no snapshot links to, " + bytes_text(bytes) + ": " + list_text(unused, 3);
  findings.add(std::move(finding));
}

void check_writable(const HubFolder& hub, Findings& findings) {
  // Root may write everywhere; a folder that gives the right to nobody was closed on purpose.
  struct stat info {};
  const bool closed = ::stat(hub.dir.c_str(), &info) == 0 && (info.st_mode & 0222) == 0;
  if (::access(hub.dir.c_str(), W_OK) == 0 && !closed) return;
  const int problem = closed ? EACCES : errno;
  Finding finding = about_hub(hub, "", "hub.read_only");
  finding.message =
      "the cache cannot be written to: " + std::string(problem == EROFS ? "it lies on a read-only filesystem" : "the user may not write into it") +
      "; downloads, refs and locks fail here, reading does not";
  finding.advice =
      "set HF_HUB_OFFLINE=1 (and TRANSFORMERS_OFFLINE=1 for old transformers), so that nothing is fetched or written; or set HF_HUB_CACHE to a cache that can "
      "be written to";
  finding.command = "export HF_HUB_OFFLINE=1";
  findings.add(std::move(finding));
}

}  // namespace

void check_hub_folder(const std::string& cache_dir, const std::string& prefix, bool of_snapshot, Findings& findings) {
  HubFolder hub{cache_dir, prefix, of_snapshot, {}};
  const std::string snapshots = cache_dir + "/snapshots";
  for (const std::string& name : names_in(snapshots))
    if (is_folder(join_path(snapshots, name))) hub.snapshots.push_back(name);
  if (hub.snapshots.empty()) {
    Finding finding = about_hub(hub, "snapshots", "hub.no_snapshot");
    finding.message = "no snapshot: a download was begun and nothing of it finished, or the snapshots were removed";
    finding.command = download_command(hub);
    findings.add(std::move(finding));
  } else {
    check_refs(hub, findings);
    check_unused(hub, findings);
  }
  check_partials(hub, findings);
  check_writable(hub, findings);
}

}  // namespace vouchfs::doctor
