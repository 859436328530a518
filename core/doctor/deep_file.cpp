#include "doctor/deep_file.h"

#include <algorithm>
#include <system_error>

#include "base/units.h"
#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/deep_watch.h"

namespace vouchfs::doctor {
namespace {

constexpr std::size_t kToldPlaces = 8;
constexpr std::uint64_t kMostFailedPages = 1024;  // a failing disk may take seconds over each

// The watchers of one file; those that have nothing to look for are absent.
struct Watches {
  std::optional<DigestWatch> digests;
  std::optional<RecordWatch> records;
  std::optional<BlockWatch> blocks;
  std::optional<TensorWatch> tensors;

  void take(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    if (digests) digests->take(offset, bytes);
    if (records) records->take(offset, bytes);
    if (blocks) blocks->take(offset, bytes);
    if (tensors) tensors->take(offset, bytes);
  }
};

// Of a file that has an error already the digest tells something new only when the size is right: whether it was published like that.
bool has_published_size(const FileFacts& file) {
  return std::any_of(file.evidence.begin(), file.evidence.end(), [&](const publisher::Evidence& evidence) { return evidence.bytes == file.bytes; });
}

void make_watches(const DeepContext& context, const FileFacts& file, bool has_error, Watches& watches) {
  if (has_error ? has_published_size(file) : !file.evidence.empty()) watches.digests.emplace(file);
  if (file.torch && file.torch->checksums) watches.records.emplace(file);
  if (file.sealed) watches.blocks.emplace(context.model, file, *file.sealed, context.engine);
  if (!has_error && file.tensors() != nullptr) watches.tensors.emplace(file);
}

// Parts of a file that cannot be read.
struct FailedReads {
  std::vector<ByteRange> ranges;  // sorted, apart
  std::uint64_t pages = 0;
  std::string why;  // of the first

  void add(const ByteRange& range, const Error& error) {
    ++pages;
    if (why.empty()) why = error.sys_errno != 0 ? std::generic_category().message(error.sys_errno) : error.message;
    if (!ranges.empty() && ranges.back().offset + ranges.back().length == range.offset)
      ranges.back().length += range.length;
    else
      ranges.push_back(range);
  }
};

Finding unreadable(const DeepContext& context, const FileFacts& file, const ByteRange& range, const std::string& message) {
  Finding finding = about(context.model, file.path, "file.io_error");
  finding.offset = range.offset;
  finding.length = range.length;
  finding.message = message;
  if (const auto* tensors = file.tensors()) finding.tensors = tensors_within(*tensors, range.offset, range.offset + range.length);
  return finding;
}

// What failed from here on was not looked at.
Finding given_up(const DeepContext& context, const FileFacts& file, std::uint64_t at, const std::string& why) {
  return unreadable(context, file, {at, file.bytes - at}, "reading it failed at byte " + std::to_string(at) + ": " + why + "; what follows was not looked at");
}

std::vector<Finding> say_failed(const DeepContext& context, const FileFacts& file, const FailedReads& failed) {
  std::vector<Finding> findings;
  for (const ByteRange& range : failed.ranges)
    findings.push_back(
        unreadable(context, file, range,
                   "reading bytes " + std::to_string(range.offset) + " to " + std::to_string(range.offset + range.length - 1) + " failed: " + failed.why));
  return findings;
}

// A disk loses sectors and a mount refuses blocks; what lies between can be read.
Status find_failed_pages(const DeepContext& context, const formats::ReadAt& read, std::uint64_t at, std::span<std::uint8_t> bytes, FailedReads& failed) {
  for (std::size_t done = 0; done < bytes.size(); done += kBlockBytes) {
    VOUCHFS_TRY(context.cancel.check());
    const auto page = bytes.subspan(done, std::min(kBlockBytes, bytes.size() - done));
    const auto got = read(at + done, page);
    if (!got) failed.add({at + done, page.size()}, got.error());
    if (failed.pages == kMostFailedPages) return {};
  }
  return {};
}

// Nothing when everything was read.
Result<std::vector<Finding>> read_through(const DeepContext& context, const FileFacts& file, std::span<std::uint8_t> buffer, Watches& watches) {
  const auto read = open_reader(file);
  if (!read) return std::vector<Finding>{given_up(context, file, 0, read.error().describe())};
  FailedReads failed;
  for (std::uint64_t at = 0; at < file.bytes;) {
    VOUCHFS_TRY(context.cancel.check());
    const auto bytes = buffer.first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), file.bytes - at)));
    const std::uint64_t failed_before = failed.pages;
    auto got = (*read)(at, bytes);
    if (!got) {
      VOUCHFS_TRY(find_failed_pages(context, *read, at, bytes, failed));
      if (failed.pages == failed_before) got = (*read)(at, bytes);  // every page came this time
      if (failed.pages == failed_before && !got) failed.add({at, bytes.size()}, got.error());
    }
    if (got && *got < bytes.size())
      return std::vector<Finding>{given_up(context, file, at + *got, "the file ends there, it had " + bytes_text(file.bytes) + " a moment ago")};
    if (failed.pages == 0) watches.take(at, bytes);
    at += bytes.size();
    context.progress.bytes_done.fetch_add(bytes.size(), std::memory_order_relaxed);
    if (failed.pages >= kMostFailedPages) {
      std::vector<Finding> findings = say_failed(context, file, failed);
      findings.back().message += "; what follows was not looked at";
      return findings;
    }
  }
  return say_failed(context, file, failed);
}

Finding at_place(const DeepContext& context, const FileFacts& file, const char* code, const BadPlace& place) {
  Finding finding = about(context.model, file.path, code);
  finding.offset = place.range.offset;
  finding.length = place.range.length;
  finding.tensors = place.tensors;
  finding.message = place.text;
  return finding;
}

// The publisher's digest says that something changed; seal and checksums say where.
void add_places(Finding& finding, const std::vector<BadPlace>& places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i < kToldPlaces) finding.message += "; " + places[i].text;
    for (const std::string& tensor : places[i].tensors)
      if (std::find(finding.tensors.begin(), finding.tensors.end(), tensor) == finding.tensors.end()) finding.tensors.push_back(tensor);
  }
  if (places.size() > kToldPlaces) finding.message += "; and " + std::to_string(places.size() - kToldPlaces) + " more places";
  if (places.empty()) return;
  finding.offset = places.front().range.offset;
  finding.length = places.front().range.length;
}

void say_tree(const DeepContext& context, const FileFacts& file, const std::string& trouble, std::vector<Finding>& findings) {
  Finding finding = about(context.model, file.path, "seal.unusable");
  finding.message = "the seal's tree of this file cannot be used: " + printable(trouble);
  findings.push_back(std::move(finding));
}

// Zeros are what became of the bytes that the digest says have changed: one cause, one finding.
std::vector<BadPlace> take_zeros(std::vector<Finding>& findings) {
  std::vector<BadPlace> places;
  const auto is_zeros = [](const Finding& finding) { return finding.code == "data.zero_tensor" || finding.code == "data.zero_run"; };
  for (const Finding& finding : findings)
    if (is_zeros(finding))
      places.push_back(
          {{finding.offset.value_or(0), finding.length.value_or(0)}, "of " + list_text(finding.tensors) + ": " + finding.message, finding.tensors});
  findings.erase(std::remove_if(findings.begin(), findings.end(), is_zeros), findings.end());
  return places;
}

// The seal knows the blocks, an archive its records; without either, zeros show a place.
const std::vector<BadPlace>& best_places(const std::vector<BadPlace>& blocks, const std::vector<BadPlace>& records, const std::vector<BadPlace>& zeros) {
  if (!blocks.empty()) return blocks;
  return records.empty() ? zeros : records;
}

void say_changed(const DeepContext& context, const FileFacts& file, const std::vector<BadPlace>& blocks, const std::vector<BadPlace>& records,
                 std::vector<Finding>& findings) {
  const char* code = blocks.empty() ? "torch.crc_mismatch" : "seal.block_mismatch";
  for (const BadPlace& place : blocks.empty() ? records : blocks) {
    findings.push_back(at_place(context, file, code, place));
    if (!blocks.empty()) findings.back().command = fetch_command(context.model, file.path);
  }
}

std::vector<Finding> judge(const DeepContext& context, const FileFacts& file, Watches& watches) {
  std::vector<Finding> findings;
  if (watches.tensors) watches.tensors->finish(context.model, findings);
  const std::vector<BadPlace> blocks = watches.blocks ? watches.blocks->finish() : std::vector<BadPlace>{};
  const std::vector<BadPlace> records = watches.records ? watches.records->finish() : std::vector<BadPlace>{};
  if (auto digest = watches.digests ? watches.digests->finish(context.model) : std::nullopt) {
    const std::vector<BadPlace> zeros = take_zeros(findings);
    add_places(*digest, best_places(blocks, records, zeros));
    findings.push_back(*std::move(digest));
  } else {
    say_changed(context, file, blocks, records, findings);
  }
  if (watches.blocks && !watches.blocks->trouble().empty()) say_tree(context, file, watches.blocks->trouble(), findings);
  return findings;
}

}  // namespace

Result<std::vector<Finding>> deep_file(const DeepContext& context, const FileFacts& file, bool has_error, std::span<std::uint8_t> buffer) {
  Watches watches;
  make_watches(context, file, has_error, watches);
  // Also without anything to look for: a file that cannot be read to its end is damage of its own.
  VOUCHFS_ASSIGN(std::vector<Finding> trouble, read_through(context, file, buffer, watches));
  if (!trouble.empty()) return trouble;
  return judge(context, file, watches);
}

}  // namespace vouchfs::doctor
