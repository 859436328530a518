// Sizes against what the publisher said, and files of the publisher's listing that are not here.
#include <algorithm>
#include <map>
#include <set>

#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "formats/shard_index.h"
#include "formats/weight_file.h"

namespace vouchfs::doctor {
namespace {

// The SHA-256 of nothing. Loaders and `ollama pull` print it when they could read no byte.
constexpr std::string_view kDigestOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

const publisher::Evidence* sized_evidence(const FileFacts& file) {
  const auto found = std::find_if(file.evidence.begin(), file.evidence.end(), [](const publisher::Evidence& evidence) { return evidence.bytes.has_value(); });
  return found == file.evidence.end() ? nullptr : &*found;
}

// Ollama does not look at sizes: a layer of weights fails when it is loaded, the others are taken as they are.
std::vector<std::string> size_texts(const ModelFacts& model, const FileFacts& file, std::uint64_t wanted) {
  if (model.place.kind != publisher::PlaceKind::ollama)
    return {"Consistency check failed: file should be of size " + std::to_string(wanted) + " but has size " + std::to_string(file.bytes)};
  if (formats::weight_format_of_name(base_name(file.path)) != formats::WeightFormat::gguf || file.bytes >= wanted) return {};
  return {"tensor 'NAME' data is not within the file bounds, model is corrupted or incomplete", "Error: unable to load model: " + file.real_path};
}

void say_size(const ModelFacts& model, const FileFacts& file, const publisher::Evidence& evidence, Findings& findings) {
  const std::uint64_t wanted = *evidence.bytes;
  Finding finding = about(model, file.path, "publisher.size_mismatch");
  finding.offset = std::min(file.bytes, wanted);
  finding.length = std::max(file.bytes, wanted) - *finding.offset;
  const std::string by = " (" + std::string(publisher::to_string(evidence.kind)) + ": " + printable(evidence.from) + ")";
  if (file.bytes < wanted) {
    finding.message = "transfer stopped at byte " + std::to_string(file.bytes) + ": the publisher's file has " + bytes_text(wanted) + by + ", " +
                      bytes_text(*finding.length) + " are missing";
    if (const auto* tensors = file.tensors()) finding.tensors = tensors_past(*tensors, file.bytes);
    finding.advice = "fetch the file again, or resume at byte " + std::to_string(file.bytes);
  } else {
    finding.message = bytes_text(*finding.length) + " too many: the publisher's file ends at byte " + std::to_string(wanted) + by;
    finding.advice = "fetch the file again; cut it to " + std::to_string(wanted) + " bytes only if its digest then fits";
  }
  if (file.bytes == 0)
    finding.message += "; an error that tells of a digest " + std::string(kDigestOfNothing.substr(0, 8)) +
                       "… means this: it is the SHA-256 of zero bytes, so look at disk, permissions and virus scanners, not at the network";
  finding.loader = size_texts(model, file, wanted);
  finding.command = fetch_command(model, file.path);
  findings.add(std::move(finding));
}

void check_sizes(const ModelFacts& model, Findings& findings) {
  for (const FileFacts& file : model.files) {
    if (file.presence != Presence::readable || findings.has_error(model.shown_path(file.path))) continue;
    const publisher::Evidence* evidence = sized_evidence(file);
    if (evidence != nullptr && *evidence->bytes != file.bytes) say_size(model, file, *evidence, findings);
  }
}

// "folder/stem of count" of a numbered shard, or "".
std::string set_of(const std::string& path) {
  const auto shard = formats::parse_shard_name(base_name(path));
  return shard ? join_path(folder_of(path), shard->stem + shard->after_number) : std::string();
}

// People fetch parts of a repository on purpose: one of several formats or variants. A shard whose sisters are here is no such choice,
// nor is a file that a list of this very folder names.
class Wanted {
 public:
  explicit Wanted(const ModelFacts& model) {
    for (const FileFacts& file : model.files) {
      if (const std::string set = set_of(file.path); !set.empty()) sets_.insert(set);
      any_weights_ |= file.is_weights;
    }
  }
  bool operator()(const publisher::AbsentFile& absent) const {
    if (!formats::weight_format_of_name(base_name(absent.path))) return false;
    const publisher::EvidenceKind kind = absent.evidence.kind;
    if (kind == publisher::EvidenceKind::sha256sums || kind == publisher::EvidenceKind::git_lfs || kind == publisher::EvidenceKind::git_blob) return true;
    return !any_weights_ || sets_.count(set_of(absent.path)) != 0;
  }

 private:
  std::set<std::string> sets_;
  bool any_weights_ = false;
};

// Tensors that indexes give to files that are not here, by path.
using Promised = std::map<std::string, std::set<std::string>>;
Promised promised_tensors(const ModelFacts& model) {
  Promised promised;
  for (const formats::IndexRecord& record : model.table.indexes)
    for (const auto& [tensor, file] : record.absent_weights) promised[join_path(record.folder, file)].insert(tensor);
  return promised;
}

void say_absent(const ModelFacts& model, const publisher::AbsentFile& absent, const Promised& promised, Findings& findings) {
  Finding finding = about(model, absent.path, "publisher.absent_file");
  if (const auto tensors = promised.find(absent.path); tensors != promised.end()) finding.tensors.assign(tensors->second.begin(), tensors->second.end());
  finding.message = "missing: " + printable(absent.evidence.from) + " names it";
  if (absent.evidence.bytes) finding.message += ", " + bytes_text(*absent.evidence.bytes);
  if (!finding.tensors.empty()) finding.message += "; " + count_text(finding.tensors.size(), "tensor") + " of the index are in it";
  finding.loader = {"No such file or directory: \"" + base_name(absent.path) + "\""};
  finding.command = fetch_command(model, absent.path);
  findings.add(std::move(finding));
}

void check_absent(const ModelFacts& model, Findings& findings) {
  const Wanted wanted(model);
  const Promised promised = promised_tensors(model);
  std::vector<std::string> others;
  for (const publisher::AbsentFile& absent : model.evidence.absent) {
    if (!wanted(absent))
      others.push_back(absent.path);
    else if (!findings.has_error(model.shown_path(absent.path)))
      say_absent(model, absent, promised, findings);
  }
  if (others.empty()) return;
  Finding finding = about(model, others.front(), "publisher.absent_file");
  finding.severity = Severity::note;
  finding.loader = {};
  finding.message = count_text(others.size(), "file") + " of the publisher's listing not here: " + list_text(others);
  finding.advice = "nothing needs to be done unless a program asks for them";
  findings.add(std::move(finding));
}

}  // namespace

void check_publisher_size(const ModelFacts& model, Findings& findings) {
  if (!model.single_file) {
    // Layers that a store lacks are said with the model they belong to.
    if (model.place.kind != publisher::PlaceKind::ollama) check_absent(model, findings);
    for (const std::string& note : model.evidence.notes) {
      Finding finding;
      finding.code = "publisher.bad_list";
      finding.message = note;
      findings.add(std::move(finding));
    }
  }
  check_sizes(model, findings);
}

}  // namespace vouchfs::doctor
