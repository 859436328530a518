// Files of torch.save: how much of a cut archive is there, records that are absent or cannot be reached, tensors that cannot be.
#include <algorithm>
#include <array>
#include <map>

#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/checks.h"

namespace vouchfs::doctor {
namespace {

constexpr std::uint64_t kTailBytes = 64 << 10;
// A tail of this many zeros was reserved and never written; an archive ends with a list of names.
constexpr std::uint64_t kZeroTailBytes = 512;

struct FaultCode {
  std::string_view fault;
  const char* code;
};
constexpr std::array<FaultCode, 11> kCodes = {{{"MissingCentralDirectory", "torch.truncated"},
                                               {"UnexpectedEnd", "torch.truncated"},
                                               {"BadCentralDirectory", "torch.no_directory"},
                                               {"RecordOutOfBounds", "torch.no_directory"},
                                               {"CompressedRecord", "torch.compressed_record"},
                                               {"MissingPickle", "torch.record_missing"},
                                               {"MissingRecord", "torch.record_missing"},
                                               {"BadLocalHeader", "torch.bad_local_header"},
                                               {"BadPickle", "torch.pickle_broken"},
                                               {"UnsupportedOpcode", "torch.pickle_broken"},
                                               {"BadTensor", "torch.bad_tensor"}}};

const char* code_of(const std::string& fault) {
  const auto* found = std::find_if(kCodes.begin(), kCodes.end(), [&](const FaultCode& row) { return row.fault == fault; });
  return found == kCodes.end() ? nullptr : found->code;
}

// Bytes of zeros at the end of the file, as far as the last 64 KiB show; 0 when it cannot be read.
std::uint64_t zero_tail(const FileFacts& file) {
  const auto read = open_reader(file);
  if (!read) return 0;
  std::vector<std::uint8_t> tail(static_cast<std::size_t>(std::min(kTailBytes, file.bytes)));
  const auto got = (*read)(file.bytes - tail.size(), tail);
  if (!got || *got != tail.size()) return 0;
  const auto last = std::find_if(tail.rbegin(), tail.rend(), [](std::uint8_t byte) { return byte != 0; });
  return static_cast<std::uint64_t>(last - tail.rbegin());
}

std::vector<std::string> readable_records(const FileFacts& file) {
  std::vector<std::string> names;
  for (const formats::TorchRecord& record : file.torch->records)
    if (record.usable && record.begin + record.bytes <= file.bytes) names.push_back(record.name);
  return names;
}

// Tensors of a cut archive that are not whole: they pass the end of the file, or lie in no record that could be followed to its end.
std::vector<std::string> lost_tensors(const FileFacts& file) {
  std::vector<std::string> names;
  for (const formats::Tensor& tensor : file.torch->claimed) {
    const auto holds = [&](const formats::TorchRecord& record) {
      return record.usable && record.begin <= tensor.begin && tensor.end <= record.begin + record.bytes;
    };
    const auto& records = file.torch->records;
    const bool in_record = file.torch->form == formats::TorchForm::legacy || std::any_of(records.begin(), records.end(), holds);
    if (tensor.bytes() != 0 && (tensor.end > file.bytes || !in_record)) names.push_back(tensor.name);
  }
  return names;
}

std::string whole_text(const FileFacts& file, std::size_t lost) {
  const std::size_t all = file.torch->claimed.size();
  if (all == 0) return "; the tensors could not be read from what is there";
  return "; " + count_text(lost, "tensor") + " cut or absent, the other " + std::to_string(all - lost) + " whole";
}

void say_cut_zip(const FileFacts& file, Finding finding, Findings& findings) {
  const std::vector<std::string> records = readable_records(file);
  const std::uint64_t zeros = zero_tail(file);
  if (zeros >= kZeroTailBytes) {
    finding.code = "torch.no_directory";
    finding.offset = file.bytes - zeros;
    finding.length = zeros;
    finding.message =
        "the last " + bytes_text(zeros) + " are zeros where the list of records must be: the file was reserved in full and not written to its end";
  } else {
    finding.offset = file.bytes;
    finding.message = "truncated: the file ends at byte " + std::to_string(file.bytes) + " without the list of records that every archive ends with";
  }
  finding.message +=
      records.empty() ? "; no record can be read" : "; " + count_text(records.size(), "record") + " readable by their own headers: " + list_text(records, 32);
  finding.tensors = lost_tensors(file);
  finding.message += whole_text(file, finding.tensors.size());
  findings.add(std::move(finding));
}

void say_cut_legacy(const FileFacts& file, Finding finding, Findings& findings) {
  std::uint64_t needed = file.bytes;
  for (const formats::Tensor& tensor : file.torch->claimed) needed = std::max(needed, tensor.end);
  finding.tensors = lost_tensors(file);
  finding.offset = file.bytes;
  if (needed > file.bytes) finding.length = needed - file.bytes;
  finding.message =
      "truncated: the file ends at byte " + std::to_string(file.bytes) +
      (needed > file.bytes ? ", its tensors need " + std::to_string(needed) + ": " + bytes_text(needed - file.bytes) + " missing" : std::string()) +
      whole_text(file, finding.tensors.size());
  findings.add(std::move(finding));
}

// Every fault of one code in one finding: the first in full, the others by name.
void say_faults(const ModelFacts& model, const FileFacts& file, const char* code, const std::vector<const formats::HeaderProblem*>& faults,
                Findings& findings) {
  Finding finding = about(model, file.path, code);
  const formats::HeaderProblem& first = *faults.front();
  finding.message = first.detail.empty() ? first.text : first.detail;
  for (std::size_t i = 1; i < faults.size() && i < 8; ++i) finding.message += "; " + faults[i]->detail;
  if (faults.size() > 8) finding.message += "; and " + std::to_string(faults.size() - 8) + " more";
  // Of these two the catalogue knows better what torch prints than the reader of the format.
  const bool known = finding.code == "torch.compressed_record" || finding.code == "torch.bad_tensor";
  if (!first.text.empty() && !known) finding.loader = {first.text};
  if (first.offset != 0) finding.offset = first.offset;
  for (const formats::HeaderProblem* fault : faults)
    if (!fault->tensor.empty() && std::find(finding.tensors.begin(), finding.tensors.end(), fault->tensor) == finding.tensors.end())
      finding.tensors.push_back(fault->tensor);
  if (finding.code == "torch.no_directory") finding.tensors = lost_tensors(file);
  findings.add(std::move(finding));
}

void say_script(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  Finding finding = about(model, file.path, "torch.script");
  finding.message = "a TorchScript program (constants.pkl and code/): torch.jit.load reads it, torch.load does not; its tensors are not listed";
  findings.add(std::move(finding));
}

void judge(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  const formats::TorchFile& torch = *file.torch;
  if (torch.torchscript && (!torch.problem || torch.problem->name == "TorchScript")) return say_script(model, file, findings);
  if (!torch.problem) return;
  const char* first_code = code_of(torch.problem->name);
  if (first_code == nullptr) return;
  // A file that ends early has faults without end; the cut is their cause.
  if (torch.problem->name == "MissingCentralDirectory" || torch.problem->name == "UnexpectedEnd") {
    Finding finding = about(model, file.path, first_code);
    if (!torch.problem->text.empty()) finding.loader = {torch.problem->text};
    finding.command = fetch_command(model, file.path);
    return torch.form == formats::TorchForm::zip ? say_cut_zip(file, std::move(finding), findings) : say_cut_legacy(file, std::move(finding), findings);
  }
  std::map<std::string_view, std::vector<const formats::HeaderProblem*>> by_code;
  for (const formats::HeaderProblem& fault : torch.faults)
    if (const char* code = code_of(fault.name)) by_code[code].push_back(&fault);
  if (by_code.empty()) by_code[first_code].push_back(&*torch.problem);
  // Without a directory the records are looked for from the front: those that a gap hides are lost by the same fault.
  if (by_code.contains("torch.no_directory")) {
    by_code.erase("torch.truncated");
    by_code.erase("torch.record_missing");
  }
  for (const auto& [code, faults] : by_code) say_faults(model, file, std::string(code).c_str(), faults, findings);
}

}  // namespace

void check_torch_container(const ModelFacts& model, Findings& findings) {
  for (const FileFacts& file : model.files)
    if (file.torch && file.presence == Presence::readable && !findings.has_error(model.shown_path(file.path))) judge(model, file, findings);
}

}  // namespace vouchfs::doctor
