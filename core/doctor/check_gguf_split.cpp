// GGUF models in several files: parts that are absent or do not belong together, and pieces that were cut only to upload them.
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "doctor/check_gguf_names.h"
#include "doctor/check_parts.h"
#include "doctor/checks.h"

namespace vouchfs::doctor {
namespace {

constexpr std::uint64_t kMostParts = 65'535;  // split.count is a u16
constexpr std::uint64_t kMostPieces = 1024;
constexpr std::size_t kToldParts = 64;  // absent parts that get a finding of their own

// The parts of one split model that are here, by number from 0.
struct SplitSet {
  std::string folder;
  std::string first_name;  // name of part 1
  std::uint64_t count = 0;
  std::uint64_t tensors = 0;  // of all parts, as the parts say
  std::map<std::uint64_t, const FileFacts*> parts;
};

std::string number_text(std::uint64_t number, std::uint64_t count) { return "part " + std::to_string(number + 1) + " of " + std::to_string(count); }

// A single file is judged with the parts beside it in mind, though it is all that was asked about.
bool is_there(const ModelFacts& model, const FileFacts& beside, const std::string& name) {
  if (model.find(join_path(folder_of(beside.path), name)) != nullptr) return true;
  struct stat info {};
  return ::stat(join_path(folder_of(beside.real_path), name).c_str(), &info) == 0;
}

void say_name(const ModelFacts& model, const FileFacts& file, const formats::GgufSplit& split, Findings& findings) {
  Finding finding = about(model, file.path, "gguf.split_mismatch");
  finding.loader = {"invalid split file name: " + base_name(file.path)};
  const auto right = formats::gguf_part_name(base_name(file.path), split.number + 1);
  finding.message = "the file says it is " + number_text(split.number, split.count) + ", its name does not; readers find the other parts by name";
  if (right) finding.message += " (it should be called " + *right + ")";
  finding.advice = "give every part its name back: NAME-00001-of-0000N.gguf";
  if (right && !is_there(model, file, *right))
    finding.command = "mv " + shell_word(file.real_path) + " " + shell_word(join_path(folder_of(file.real_path), *right));
  findings.add(std::move(finding));
}

// Sorts every part under the name its set begins with. Ollama keeps parts under names of its own.
std::map<std::string, SplitSet> sets_of(const ModelFacts& model, Findings& findings) {
  std::map<std::string, SplitSet> sets;
  for (const FileFacts& file : model.files) {
    if (!file.gguf || !file.gguf->split || file.gguf->split->count < 2 || model.place.kind == publisher::PlaceKind::ollama) continue;
    const formats::GgufSplit& split = *file.gguf->split;
    const auto own = formats::gguf_part_name(base_name(file.path), split.number + 1);
    if (findings.has_error(model.shown_path(file.path)) && !own) continue;
    if (!own || *own != base_name(file.path)) {
      say_name(model, file, split, findings);
      continue;
    }
    const std::string first = *formats::gguf_part_name(base_name(file.path), 1);
    SplitSet& set = sets[join_path(folder_of(file.path), first)];
    set.folder = folder_of(file.path);
    set.first_name = first;
    set.count = std::max(set.count, split.count);
    set.tensors = std::max(set.tensors, split.tensors);
    set.parts.emplace(split.number, &file);
  }
  return sets;
}

std::uint64_t tensors_here(const SplitSet& set) {
  std::uint64_t sum = 0;
  for (const auto& [number, file] : set.parts) sum += file->gguf->tensor_count;
  return sum;
}

// Numbers of the parts that are nowhere, not even broken.
std::vector<std::uint64_t> absent_parts(const ModelFacts& model, const SplitSet& set) {
  std::vector<std::uint64_t> absent;
  const FileFacts& some = *set.parts.begin()->second;
  for (std::uint64_t k = 0; k < std::min(set.count, kMostParts); ++k) {
    const auto name = formats::gguf_part_name(set.first_name, k + 1);
    if (set.parts.count(k) == 0 && name && !is_there(model, some, *name)) absent.push_back(k);
  }
  return absent;
}

void say_absent(const ModelFacts& model, const SplitSet& set, const std::vector<std::uint64_t>& absent, Findings& findings) {
  const std::uint64_t here = tensors_here(set);
  for (std::size_t i = 0; i < absent.size() && i < kToldParts; ++i) {
    const std::string name = *formats::gguf_part_name(set.first_name, absent[i] + 1);
    const std::string path = join_path(set.folder, name);
    if (findings.has_error(model.shown_path(path))) continue;
    Finding finding = about(model, path, "gguf.split_missing");
    finding.message = number_text(absent[i], set.count) + " is missing: " + name + " is not there; " + count_text(set.parts.size(), "part") + " of " +
                      std::to_string(set.count) + " present";
    if (set.tensors > here)
      finding.message += ", " + count_text(set.tensors - here, "tensor") + " of " + std::to_string(set.tensors) + " are in the missing " +
                         (absent.size() == 1 ? "part" : "parts");
    if (i + 1 == kToldParts && absent.size() > kToldParts) finding.message += "; and " + count_text(absent.size() - kToldParts, "more part") + " missing";
    finding.loader = {"llama_model_load: error loading model: failed to load GGUF split from " + name};
    finding.advice = "fetch " + name + " into the same folder";
    finding.command = fetch_command(model, path);
    findings.add(std::move(finding));
  }
}

// The name of a part whose split.count differs from the others', or "".
std::string odd_count(const SplitSet& set) {
  for (const auto& [number, file] : set.parts)
    if (file->gguf->split->count != set.count) return file->path;
  return {};
}

// True when every part is here and its header can be read: only then can sums be compared.
bool all_readable(const SplitSet& set) {
  if (set.parts.size() != set.count) return false;
  for (const auto& [number, file] : set.parts)
    if (file->gguf->problem) return false;
  return true;
}

void say_sum(const ModelFacts& model, const SplitSet& set, Findings& findings) {
  const std::uint64_t here = tensors_here(set);
  if (set.tensors == 0 || here == set.tensors) return;
  Finding finding = about(model, set.parts.begin()->second->path, "gguf.split_mismatch");
  finding.message = "the parts say that they hold " + count_text(set.tensors, "tensor") + " together (split.tensors.count); they hold " + std::to_string(here);
  finding.loader = {"corrupted model: " + std::to_string(set.tensors) + " tensors expected but " + std::to_string(here) + " found"};
  findings.add(std::move(finding));
}

void say_twice(const ModelFacts& model, const SplitSet& set, Findings& findings) {
  std::map<std::string, const FileFacts*> holders;
  for (const auto& [number, file] : set.parts)
    for (const formats::Tensor& tensor : file->gguf->tensors) {
      const auto [at, is_new] = holders.emplace(tensor.name, file);
      if (is_new) continue;
      Finding finding = about(model, file->path, "gguf.duplicate_tensor");
      finding.tensors = {tensor.name};
      finding.offset = tensor.begin;
      finding.length = tensor.bytes();
      finding.message = "this part and " + base_name(at->second->path) + " both hold a tensor of this name";
      finding.loader = {"invalid model: tensor '" + tensor.name + "' is duplicated"};
      findings.add(std::move(finding));
      return;
    }
}

void judge(const ModelFacts& model, const SplitSet& set, Findings& findings) {
  if (const std::string odd = odd_count(set); !odd.empty()) {
    Finding finding = about(model, odd, "gguf.split_mismatch");
    finding.message = "the parts do not agree on how many they are: " + std::to_string(set.count) + " by others, " +
                      std::to_string(model.find(odd)->gguf->split->count) + " by this one";
    findings.add(std::move(finding));
    return;
  }
  if (const auto absent = absent_parts(model, set); !absent.empty()) return say_absent(model, set, absent, findings);
  if (!all_readable(set)) return;
  say_sum(model, set, findings);
  say_twice(model, set, findings);
}

using RawSet = std::map<std::uint64_t, std::pair<const FileFacts*, RawPart>>;

// Where the last tensor ends, by the header in the first piece; 0 when it is not here or cannot be read.
std::uint64_t bytes_needed(const FileFacts& first) {
  const auto read = open_reader(first);
  if (!read) return 0;
  const auto header = formats::read_gguf_header(first.bytes, *read);
  std::uint64_t needed = 0;
  if (header)
    for (const formats::Tensor& tensor : header->problem ? header->claimed : header->tensors) needed = std::max(needed, tensor.end);
  return needed;
}

std::string length_text(std::uint64_t bytes, std::uint64_t needed) {
  if (needed == 0) return {};
  return bytes >= needed ? "; together they are long enough for every tensor" : "; together they are " + bytes_text(needed - bytes) + " too short";
}

void judge_raw(const ModelFacts& model, const std::string& whole, const RawSet& pieces, Findings& findings) {
  const auto& [first, part] = pieces.begin()->second;
  const std::uint64_t count = std::min(std::max(part.count, pieces.rbegin()->first), kMostPieces);
  const std::string beside = first->real_path.substr(0, first->real_path.size() - base_name(first->path).size());
  std::string names;
  std::vector<std::string> absent;
  std::uint64_t bytes = 0;
  for (std::uint64_t k = 1; k <= count; ++k) {
    const auto piece = pieces.find(k);
    const std::string name = raw_part_name(part, k);
    if (piece == pieces.end())
      absent.push_back(name);
    else
      bytes += piece->second.first->bytes;
    names += " " + shell_word(beside + name);
  }
  Finding finding = about(model, first->path, "gguf.raw_part");
  finding.message = "a piece of " + base_name(whole) + " that was cut to upload it, no split that loaders know; " + std::to_string(pieces.size()) + " of " +
                    count_text(count, "piece") + " here";
  finding.message += absent.empty() ? length_text(bytes, bytes_needed(*first)) : ", missing: " + list_text(absent);
  if (!absent.empty()) finding.advice = "fetch the missing pieces into the same folder, then join all of them in order with cat";
  if (absent.empty()) finding.command = "cat" + names + " > " + shell_word(beside + base_name(whole));
  findings.add(std::move(finding));
}

void check_raw_parts(const ModelFacts& model, Findings& findings) {
  std::map<std::string, RawSet> sets;
  for (const FileFacts& file : model.files) {
    const auto part = raw_part(base_name(file.path));
    if (!part || findings.has_error(model.shown_path(file.path))) continue;
    const std::string whole = join_path(folder_of(file.path), part->whole);
    if (model.find(whole) == nullptr) sets[whole].emplace(part->number, std::make_pair(&file, *part));
  }
  for (const auto& [whole, pieces] : sets) judge_raw(model, whole, pieces, findings);
}

}  // namespace

void check_gguf_split(const ModelFacts& model, Findings& findings) {
  for (const auto& [name, set] : sets_of(model, findings)) judge(model, set, findings);
  check_raw_parts(model, findings);
}

}  // namespace vouchfs::doctor
