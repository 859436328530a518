// The Hugging Face cache that a snapshot lies in, or the download notes that `hf download --local-dir` left beside a model.
#include <algorithm>

#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "doctor/folder_list.h"
#include "doctor/hub_partials.h"
#include "doctor/stores.h"
#include "formats/shard_index.h"
#include "formats/store_files.h"
#include "formats/weight_file.h"

namespace vouchfs::doctor {
namespace {

constexpr const char* kDownloads = "/.cache/huggingface/download";

// "snapshots/<commit>" at the end of what findings of the model begin with: then PATH holds the whole cache folder.
bool covers_cache(const ModelFacts& model) {
  const std::string place = "snapshots/" + model.place.revision;
  return model.shown.size() >= place.size() && model.shown.compare(model.shown.size() - place.size(), place.size(), place) == 0;
}

std::string cache_prefix(const ModelFacts& model) {
  if (!covers_cache(model)) return "../../";
  return model.shown.substr(0, model.shown.size() - model.place.revision.size() - std::string("snapshots/").size());
}

void say_partial(const ModelFacts& model, const HubPartial& partial, const PartialOwner& owner, Findings& findings) {
  Finding finding = about(model, owner.path, "hub.incomplete_download");
  const bool said = findings.has_error(finding.file);
  finding.message = "the download of it is not finished: " + progress_text(partial.bytes, owner.bytes) + ", in blobs/" + partial.name;
  finding.offset = partial.bytes;
  if (owner.bytes && *owner.bytes > partial.bytes) finding.length = *owner.bytes - partial.bytes;
  const FileFacts* file = model.find(owner.path);
  if (said || partial.finished || (file != nullptr && file->presence == Presence::readable)) finding.severity = Severity::note;
  if (partial.finished) finding.message = "left over from a download that was finished since: blobs/" + partial.name;
  if (partial.finished) finding.file = cache_prefix(model) + "blobs/" + partial.name;
  if (partial.finished) finding.advice = "remove it: nothing reads it";
  finding.command = partial.finished ? "rm " + shell_word(model.place.cache_dir + "/blobs/" + partial.name) : fetch_command(model, owner.path);
  findings.add(std::move(finding));
}

void check_partials(const ModelFacts& model, Findings& findings) {
  for (const HubPartial& partial : hub_partials(model.place.cache_dir))
    for (const PartialOwner& owner : partial.owners)
      if (owner.revision == model.place.revision) say_partial(model, partial, owner, findings);
}

// A link to nothing is said where links are checked; which blob is gone is all there is to add, and the link's target says that.
bool matters(const std::string& path) {
  return formats::weight_format_of_name(base_name(path)) || formats::is_index_name(base_name(path)) || base_name(path) == "config.json";
}

bool has_weights(const ModelFacts& model) {
  return std::any_of(model.files.begin(), model.files.end(), [](const FileFacts& file) { return file.is_weights; });
}

// Marks of absence are usual: every optional file that a library asked for leaves one.
void check_no_exist(const ModelFacts& model, Findings& findings) {
  const std::string folder = model.place.cache_dir + "/.no_exist/" + model.place.revision;
  const bool weights = has_weights(model);
  for (const std::string& path : files_below(folder)) {
    const bool present = model.find(path) != nullptr;
    const auto& absent = model.evidence.absent;
    const bool published = std::any_of(absent.begin(), absent.end(), [&](const publisher::AbsentFile& file) { return file.path == path; });
    if (!present && !published && (weights || !matters(path))) continue;
    Finding finding = about(model, path, "hub.no_exist");
    finding.file = cache_prefix(model) + ".no_exist/" + model.place.revision + "/" + path;
    finding.message = present ? "marked as absent, though it is there: offline, libraries believe the mark"
                              : "marked as absent, so that offline libraries do not ask for it again";
    if (!present && published) finding.message += "; yet the publisher's listing names it";
    if (!present && !published) finding.severity = Severity::note;
    finding.command = "rm " + shell_word(join_path(folder, path));
    findings.add(std::move(finding));
  }
}

// The etag at the end of a name of --local-dir: "<short hash>.<etag>.incomplete", formerly "<path>.<etag>.incomplete".
std::string local_etag(const std::string& name) {
  const std::string stem = name.substr(0, name.size() - std::string(".incomplete").size());
  const std::string last = stem.substr(stem.find_last_of('.') + 1);
  return is_hex(last, 64) || is_hex(last, 40) ? last : std::string();
}

// Which file of the model a part belongs to: by the publisher's listing, or by its name.
const publisher::AbsentFile* local_owner(const ModelFacts& model, const std::string& part, const std::string& etag) {
  for (const publisher::AbsentFile& absent : model.evidence.absent)
    if (absent.evidence.hex == etag || part == absent.path + "." + etag + ".incomplete") return &absent;
  return nullptr;
}

void check_local_dir(const ModelFacts& model, Findings& findings) {
  const std::string folder = model.place.model_dir + kDownloads;
  for (const std::string& part : files_below(folder)) {
    if (!part.ends_with(".incomplete")) continue;
    const std::string etag = local_etag(base_name(part));
    const publisher::AbsentFile* owner = local_owner(model, part, etag);
    std::string path = owner != nullptr ? owner->path : std::string();
    const std::string by_name = etag.empty() ? std::string() : part.substr(0, part.size() - etag.size() - std::string("..incomplete").size());
    if (path.empty() && model.find(by_name) != nullptr) path = by_name;
    const bool finished = !path.empty() && model.find(path) != nullptr;
    const auto size = size_of(join_path(folder, part));
    Finding finding = about(model, path.empty() ? std::string(kDownloads).substr(1) + "/" + part : path, "hub.incomplete_download");
    if (finished || findings.has_error(finding.file)) finding.severity = Severity::note;
    finding.message = finished ? "left over from a download that was finished since: " + printable(part)
                               : "a download is not finished: " +
                                     progress_text(size ? std::min(size->bytes, size->allocated) : 0, owner != nullptr ? owner->evidence.bytes : std::nullopt);
    findings.add(std::move(finding));
  }
}

}  // namespace

void check_hub_cache(const ModelFacts& model, Findings& findings) {
  if (model.place.kind == publisher::PlaceKind::folder) {
    if (!model.single_file) check_local_dir(model, findings);
    return;
  }
  if (model.place.kind != publisher::PlaceKind::hf_snapshot || is_hollow(model.place)) return;
  check_partials(model, findings);
  check_no_exist(model, findings);
  if (!covers_cache(model)) check_hub_folder(model.place.cache_dir, cache_prefix(model), true, findings);
}

}  // namespace vouchfs::doctor
