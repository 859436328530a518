#include "doctor/doctor.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "doctor/catalogue.h"
#include "doctor/check_parts.h"
#include "doctor/index_view.h"
#include "doctor/mounted_model.h"
#include "doctor/needs.h"
#include "doctor/stores.h"

namespace vouchfs::doctor {
namespace {

Verdict verdict_of(const Finding& finding) {
  if (finding.severity != Severity::error) return Verdict::whole;
  const CodeFacts* facts = find_code(finding.code);
  return facts == nullptr ? Verdict::damaged : facts->verdict;
}

// What is nearer to the model's end comes first: an unusable file before a damaged one.
void sort_worst_first(std::vector<Finding>& findings) {
  const auto rank = [](const Finding& finding) {
    return std::make_tuple(finding.severity, -static_cast<int>(verdict_of(finding)), std::cref(finding.file), finding.offset);
  };
  std::stable_sort(findings.begin(), findings.end(), [&](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
}

void count(Report& report) {
  for (const Finding& finding : report.findings) {
    report.verdict = std::max(report.verdict, verdict_of(finding));
    report.errors += finding.severity == Severity::error ? 1 : 0;
    report.warnings += finding.severity == Severity::warning ? 1 : 0;
    report.notes += finding.severity == Severity::note ? 1 : 0;
  }
}

void add_totals(const ModelFacts& model, Report& report) {
  ++report.models;
  for (const FileFacts& file : model.files) {
    ++report.files;
    report.bytes += file.bytes;
    if (const auto* tensors = file.tensors()) report.tensors += tensors->size();
    if (const auto need = safetensors_needed(file); need && std::find(report.needs.begin(), report.needs.end(), *need) == report.needs.end())
      report.needs.push_back(*need);
  }
}

// A file that is lost as a whole cannot say which tensors it held; the index can.
std::vector<Finding> name_lost_tensors(const ModelFacts& model, std::vector<Finding> findings) {
  const auto names_none = [](const Finding& finding) { return finding.severity == Severity::error && finding.tensors.empty(); };
  if (std::none_of(findings.begin(), findings.end(), names_none)) return findings;
  std::unordered_map<std::string, const FileFacts*> files;  // that do not say it themselves, as findings call them
  for (const FileFacts& file : model.files)
    if (!names_known(file)) files.emplace(model.shown_path(file.path), &file);
  const std::map<std::string, std::vector<std::string>> promised = tensors_by_index(model);
  for (Finding& finding : findings) {
    const auto file = names_none(finding) ? files.find(finding.file) : files.end();
    if (file == files.end()) continue;
    if (const auto found = promised.find(file->second->path); found != promised.end()) finding.tensors = found->second;
  }
  return findings;
}

Status look_at(const ModelFacts& model, const DoctorOptions& options, const std::shared_ptr<const hash::Sha256Engine>& engine, DeepProgress& progress,
               const CancelFlag& cancel, Report& report) {
  Findings findings;
  for (const Check& check : model_checks()) {
    VOUCHFS_TRY(cancel.check());
    check.run(model, findings);
  }
  if (options.deep) VOUCHFS_TRY(deep_checks(model, options.jobs, engine, progress, cancel, findings));
  add_totals(model, report);
  std::vector<Finding> found = leave_out_partials(explain_refused_blocks(model, std::move(findings).take()));
  for (Finding& finding : name_lost_tensors(model, std::move(found))) report.findings.push_back(std::move(finding));
  return {};
}

// Findings name files below PATH: a model that PATH does not name itself has its own place in them; layers of an Ollama store lie in its blobs.
std::string shown_prefix(const std::string& path, const publisher::Place& place) {
  std::string root = path;
  while (root.size() > 1 && root.back() == '/') root.pop_back();
  const std::string& dir = place.model_dir;
  return dir.size() > root.size() + 1 && dir.starts_with(root + "/") ? dir.substr(root.size() + 1) : std::string();
}

Result<ModelFacts> gather_place(const std::string& path, const publisher::Place& place, const GatherOptions& options, const CancelFlag& cancel) {
  ModelFacts model;
  if (is_hollow(place)) {
    model.place = place;
  } else {
    VOUCHFS_ASSIGN(model, gather(place, options, cancel));
  }
  model.shown = shown_prefix(path, place);
  return model;
}

// A link to nothing is a file with a finding: of a cache it is what an error message names when the blob is lost.
bool is_file(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) return !S_ISDIR(info.st_mode);
  const bool leads_nowhere = errno == ENOENT || errno == ELOOP;
  return leads_nowhere && ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

// The kernel answers stat(2) from its memory for a while after the daemon has died; statvfs(3) it always asks the daemon.
bool is_dead_mount(const std::string& path) {
  struct statvfs info {};
  return ::statvfs(path.c_str(), &info) != 0 && errno == ENOTCONN;
}

Result<Report> diagnose_path(const std::string& path, const DoctorOptions& options, const std::shared_ptr<const hash::Sha256Engine>& engine,
                             DeepProgress& progress, const CancelFlag& cancel) {
  Report report;
  report.path = path;
  const auto look = [&](const Result<ModelFacts>& model) -> Status {
    if (!model) return fail(model.error());
    return look_at(*model, options, engine, progress, cancel, report);
  };
  Findings of_path;
  if (is_dead_mount(path)) {
    of_path.add(dead_mount(path));
  } else if (is_file(path)) {
    VOUCHFS_TRY(look(gather_file(path, options.gather, cancel)));
  } else {
    VOUCHFS_ASSIGN(const std::vector<publisher::Place> places, find_models(path, options.gather.revision));
    for (const publisher::Place& place : places) VOUCHFS_TRY(look(gather_place(path, place, options.gather, cancel)));
    check_stores(path, places, of_path);
  }
  for (Finding& finding : std::move(of_path).take()) report.findings.push_back(std::move(finding));
  sort_worst_first(report.findings);
  count(report);
  return report;
}

}  // namespace

Result<Report> diagnose(const std::string& path, const DoctorOptions& options, const std::shared_ptr<const hash::Sha256Engine>& engine, DeepProgress& progress,
                        const CancelFlag& cancel) {
  // The commands of findings begin with this path, and a tool takes a leading dash for an option.
  return diagnose_path(path.starts_with("-") ? "./" + path : path, options, engine, progress, cancel);
}

}  // namespace vouchfs::doctor
