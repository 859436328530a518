#include "doctor/mounted_model.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/units.h"
#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "seal/seal_directory.h"

namespace vouchfs::doctor {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxWords = 256U << 20;  // of a status or an event log: more than a mount keeps

struct RefusedBlock {
  std::uint64_t block = 0;
  std::vector<std::string> tensors;
};
struct MountedModel {
  std::string root;                                            // where it is mounted
  std::string source;                                          // the folder its files come from
  std::map<std::string, std::vector<RefusedBlock>> refused;    // by file, in order of block
  std::set<std::pair<std::string, std::uint64_t>> unreadable;  // file and block: the source failed, nothing was compared
  std::uint64_t listed = 0;                                    // blocks in `refused`
  std::uint64_t total = 0;                                     // blocks that the mount refuses; more than it lists when they are very many
};

bool exists(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

std::optional<std::string> root_above(const std::string& folder) {
  std::error_code error;
  for (std::filesystem::path at = std::filesystem::canonical(folder, error); !error && !at.empty(); at = at.parent_path()) {
    if (is_mount_folder((at / seal::kSealFolder).string())) return at.string();
    if (at == at.root_path()) break;
  }
  return std::nullopt;
}

std::string text_of(const json& object, const char* key) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::optional<std::uint64_t> number_of(const json& object, const char* key) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && at != object.end() && at->is_number_unsigned() ? std::optional(at->get<std::uint64_t>()) : std::nullopt;
}

const json& list_of(const json& object, const char* key) {
  static const json kNone = json::array();
  const auto at = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && at != object.end() && at->is_array() ? *at : kNone;
}

void take_status(const std::string& text, MountedModel& mounted) {
  const json status = json::parse(text, nullptr, false);
  const json& models = list_of(status, "models");
  if (models.size() != 1) return;
  mounted.source = text_of(models.front(), "source");
  for (const json& bad : list_of(models.front(), "known_bad")) {
    const auto block = number_of(bad, "block");
    if (!block || *block > UINT64_MAX / kBlockBytes - 1) continue;
    RefusedBlock refused{*block, {}};
    for (const json& name : list_of(bad, "tensors"))
      if (name.is_string()) refused.tensors.push_back(name.get<std::string>());
    mounted.refused[text_of(bad, "file")].push_back(std::move(refused));
    ++mounted.listed;
  }
  mounted.total = number_of(models.front(), "known_bad_total").value_or(0);
  for (auto& [file, blocks] : mounted.refused)
    std::sort(blocks.begin(), blocks.end(), [](const RefusedBlock& a, const RefusedBlock& b) { return a.block < b.block; });
}

// The newest word about a block counts.
void take_events(std::string_view text, MountedModel& mounted) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const json event = json::parse(text.substr(0, end), nullptr, false);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto block = number_of(event, "block");
    if (!block) continue;
    const std::string kind = text_of(event, "event");
    if (kind == "source_error") mounted.unreadable.emplace(text_of(event, "file"), *block);
    if (kind == "corrupt_block" || kind == "corrupt_tree") mounted.unreadable.erase({text_of(event, "file"), *block});
  }
}

// stat(2) gives these files no size: they are made when they are opened. What is longer than any mount's is not read to its end.
Result<std::string> read_words(const std::string& path) {
  constexpr std::size_t kPiece = 1U << 20;
  VOUCHFS_ASSIGN(const UniqueFd fd, open_at(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, path));
  std::string text;
  for (std::size_t got = kPiece; got == kPiece && text.size() < kMaxWords;) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    VOUCHFS_ASSIGN(got, read_full(fd.get(), before, {reinterpret_cast<std::uint8_t*>(text.data()) + before, kPiece}, path));
    text.resize(before + got);
  }
  return text;
}

std::optional<MountedModel> mounted_model(const std::string& folder) {
  const std::optional<std::string> root = root_above(folder);
  if (!root) return std::nullopt;
  MountedModel mounted;
  mounted.root = *root;
  const std::string dir = *root + "/" + seal::kSealFolder;
  if (const auto status = read_words(dir + "/status.json")) take_status(*status, mounted);
  if (const auto events = read_words(dir + "/events.jsonl")) take_events(*events, mounted);
  return mounted;
}

// What the mount calls a file.
std::string name_in_mount(const MountedModel& mounted, const FileFacts& file) {
  std::error_code error;
  const std::filesystem::path path(file.real_path);
  const std::filesystem::path folder = std::filesystem::canonical(path.has_parent_path() ? path.parent_path() : std::filesystem::path("."), error);
  if (error) return {};
  const std::string whole = (folder / path.filename()).string();
  return whole.starts_with(mounted.root + "/") ? whole.substr(mounted.root.size() + 1) : std::string();
}

Finding about_blocks(const ModelFacts& model, const MountedModel& mounted, const FileFacts& file, std::uint64_t first, std::uint64_t last, bool differs) {
  Finding finding = about(model, file.path, differs ? "seal.block_mismatch" : "file.io_error");
  const std::uint64_t offset = first * kBlockBytes;
  const std::uint64_t end = (last + 1) * kBlockBytes;
  finding.offset = offset;
  finding.length = (offset < file.bytes ? std::min(end, file.bytes) : end) - offset;
  const bool one = first == last;
  finding.message = (one ? "block " + std::to_string(first) : "blocks " + std::to_string(first) + " to " + std::to_string(last)) + " (bytes " +
                    std::to_string(offset) + " to " + std::to_string(offset + *finding.length - 1) + ") " +
                    (!differs ? "cannot be read from the source"
                     : one    ? "differs from the seal"
                              : "differ from the seal") +
                    ": the mount answers with EIO; its source is " + printable(mounted.source);
  finding.loader = {"Input/output error (os error 5)", "OSError: [Errno 5] Input/output error", "Bus error (core dumped)"};
  if (!mounted.source.empty()) finding.command = "vouchfs doctor --deep " + shell_word(mounted.source);
  return finding;
}

// Neighbouring blocks with the same cause are one finding.
std::vector<Finding> about_file(const ModelFacts& model, const MountedModel& mounted, const FileFacts& file, const std::string& name) {
  std::vector<Finding> findings;
  const auto blocks = mounted.refused.find(name);
  if (blocks == mounted.refused.end()) return findings;
  const auto differs = [&](const RefusedBlock& refused) { return mounted.unreadable.count({name, refused.block}) == 0; };
  const auto& all = blocks->second;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i + 1;
    while (end < all.size() && all[end].block == all[end - 1].block + 1 && differs(all[end]) == differs(all[i])) ++end;
    findings.push_back(about_blocks(model, mounted, file, all[i].block, all[end - 1].block, differs(all[i])));
    std::set<std::string> named;
    for (; i < end; ++i)
      for (const std::string& tensor : all[i].tensors)
        if (named.insert(tensor).second) findings.back().tensors.push_back(tensor);
  }
  if (mounted.total > mounted.listed)
    findings.back().message += "; the mount refuses " + std::to_string(mounted.total) + " blocks in all and lists the first " + std::to_string(mounted.listed);
  return findings;
}

}  // namespace

bool is_mount_folder(const std::string& vouch_dir) { return exists(vouch_dir + "/status.json") && !exists(vouch_dir + "/" + seal::kTablesFolder); }

std::vector<Finding> explain_refused_blocks(const ModelFacts& model, std::vector<Finding> findings) {
  const auto is_failed_read = [](const Finding& finding) { return finding.code == "file.io_error"; };
  if (std::none_of(findings.begin(), findings.end(), is_failed_read)) return findings;
  const auto mounted = mounted_model(model.place.model_dir);
  if (!mounted) return findings;
  Findings told;
  for (const FileFacts& file : model.files) {
    const std::string shown = model.shown_path(file.path);
    const auto is_of_file = [&](const Finding& finding) { return is_failed_read(finding) && finding.file == shown; };
    if (std::none_of(findings.begin(), findings.end(), is_of_file)) continue;
    std::vector<Finding> blocks = about_file(model, *mounted, file, name_in_mount(*mounted, file));
    if (blocks.empty()) continue;
    findings.erase(std::remove_if(findings.begin(), findings.end(), is_of_file), findings.end());
    for (Finding& finding : blocks) told.add(std::move(finding));
  }
  for (Finding& finding : std::move(told).take()) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace vouchfs::doctor
