// The small files of huggingface_hub: the listing of a commit, and the note beside a downloaded file.
#include <charconv>
#include <cmath>

#include "formats/hex_text.h"
#include "formats/json_fields.h"
#include "formats/shard_groups.h"
#include "formats/shown_name.h"
#include "formats/store_files.h"

namespace vouchfs::formats {
namespace {

constexpr std::uint64_t kListingVersion = 1;
constexpr std::uint64_t kMaxBytes = 1ULL << 60;  // of one file: no medium holds more
constexpr std::size_t kMaxDigestText = 128;
constexpr std::size_t kMaxNoteBytes = 4096;  // three short lines

// A digest or null, as the listing has it for files that lack one.
JsonLeaf::Take take_hex(std::string what, std::size_t digits, std::function<void(std::string&&)> then) {
  return [what = std::move(what), digits, then = std::move(then)](JsonScalar& value) -> Status {
    if (value.kind == JsonScalar::Kind::null) return {};
    const auto take = take_text(what, kMaxDigestText, [&](std::string&& text) -> Status {
      auto hex = lower_hex(text, digits);
      if (!hex) return fail(ErrorCode::bad_format, "'" + what + "' must have " + std::to_string(digits) + " hex digits");
      then(*std::move(hex));
      return {};
    });
    return take(value);
  };
}

JsonLeaf::Take take_size_or_null(std::string what, std::function<void(std::uint64_t)> then) {
  return [what = std::move(what), then = std::move(then)](JsonScalar& value) -> Status {
    if (value.kind == JsonScalar::Kind::null) return {};
    const auto take = take_number(what, kMaxBytes, [&](std::uint64_t number) -> Status {
      then(number);
      return {};
    });
    return take(value);
  };
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = trimmed(text.substr(0, end));
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

Result<std::map<std::string, HfTreeFile>> parse_hf_tree(std::string_view text) {
  std::map<std::string, HfTreeFile> files;
  HfTreeFile* file = nullptr;
  JsonLeaf version("format_version", take_number("format_version", UINT64_MAX, [](std::uint64_t number) -> Status {
                     if (number == kListingVersion) return {};
                     return fail(ErrorCode::bad_format,
                                 "the listing has format_version " + std::to_string(number) + "; only " + std::to_string(kListingVersion) + " is known");
                   }));
  JsonLeaf size("size", take_number("size", kMaxBytes, [&](std::uint64_t number) -> Status {
                  file->bytes = number;
                  return {};
                }));
  JsonLeaf blob_id("blob_id", take_hex("blob_id", kSha1Digits, [&](std::string&& hex) { file->git_sha1 = std::move(hex); }));
  JsonLeaf sha256("lfs_sha256", take_hex("lfs_sha256", kSha256Digits, [&](std::string&& hex) { file->sha256 = std::move(hex); }));
  JsonLeaf lfs_size("lfs_size", take_size_or_null("lfs_size", [&](std::uint64_t number) { file->lfs_bytes = number; }));
  JsonObject entry("a file of the listing");
  entry.field("size", size).optional_field("blob_id", blob_id).optional_field("lfs_sha256", sha256).optional_field("lfs_size", lfs_size);
  JsonMap listing(
      "files",
      [&](std::string& path) -> Status {
        if (!is_plain_relative_path(path)) return fail(ErrorCode::bad_format, "the listing names '" + shown_name(path) + "', which is no path inside a model");
        const auto [at, added] = files.try_emplace(path);
        if (!added) return fail(ErrorCode::bad_format, "the listing names '" + shown_name(path) + "' twice");
        file = &at->second;
        return {};
      },
      entry);
  JsonObject root("the listing");
  root.field("format_version", version).field("files", listing);
  VOUCHFS_TRY(read_json(text, root));
  return files;
}

Result<HfDownloadNote> parse_hf_download_note(std::string_view text) {
  if (text.size() > kMaxNoteBytes) return fail(ErrorCode::bad_format, "is too long for a download note: " + std::to_string(text.size()) + " bytes");
  HfDownloadNote note;
  const auto commit = lower_hex(take_line(text), kSha1Digits);
  if (!commit) return fail(ErrorCode::bad_format, "its first line is no commit (40 hex digits)");
  note.commit = *commit;
  const std::string_view etag = take_line(text);
  auto hex = lower_hex(etag, kSha256Digits);
  if (!hex) hex = lower_hex(etag, kSha1Digits);
  if (!hex) return fail(ErrorCode::bad_format, "its second line is no digest (64 or 40 hex digits)");
  note.etag = *std::move(hex);
  const std::string_view stamp = take_line(text);
  const auto [end, error] = std::from_chars(stamp.data(), stamp.data() + stamp.size(), note.stamp);
  if (error != std::errc() || end != stamp.data() + stamp.size() || !std::isfinite(note.stamp))
    return fail(ErrorCode::bad_format, "its third line is no time stamp");
  return note;
}

}  // namespace vouchfs::formats
