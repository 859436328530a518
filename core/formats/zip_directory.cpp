#include "formats/zip_directory.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "formats/shown_name.h"
#include "formats/torch_bytes.h"

namespace vouchfs::formats {
namespace {

constexpr std::string_view kEndSignature = "PK\x05\x06";
constexpr std::string_view kLocator64Signature = "PK\x06\x07";
constexpr std::string_view kEnd64Signature = "PK\x06\x06";
constexpr std::string_view kCentralSignature = "PK\x01\x02";
constexpr std::uint64_t kEndBytes = 22;
constexpr std::uint64_t kLocator64Bytes = 20;
constexpr std::uint64_t kEnd64Bytes = 56;
constexpr std::uint64_t kCentralBytes = 46;
constexpr std::uint64_t kMaxComment = 0xFFFF;
constexpr std::uint64_t kFolderAttribute = 0x10;  // of DOS
constexpr std::uint64_t kIn64 = 0xFFFFFFFF;       // the true number is in the zip64 field

HeaderProblem directory_problem(const char* name, std::string detail, std::uint64_t offset) {
  return {name, "PytorchStreamReader failed reading zip archive: failed finding central directory", std::move(detail), {}, offset};
}

struct Directory {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
  bool usable = true;  // not over several disks, and not behind a locator that leads nowhere: PyTorch reads neither
};

// Numbers of "this disk" and of "the disk of the directory".
bool is_one_disk(std::uint64_t disk, std::uint64_t directory_disk) { return disk == directory_disk && disk <= 1; }

Result<std::string> read_text(const ReadAt& read, std::uint64_t offset, std::uint64_t count) {
  std::string text;
  VOUCHFS_TRY(append_exactly(read, offset, count, text));
  return text;
}

// The numbers of the zip64 end record, when a locator stands before the end record.
Result<std::optional<Directory>> read_end64(std::uint64_t end_offset, const ReadAt& read) {
  if (end_offset < kLocator64Bytes + kEnd64Bytes) return std::optional<Directory>{};
  VOUCHFS_ASSIGN(const std::string locator, read_text(read, end_offset - kLocator64Bytes, kLocator64Bytes));
  if (load_little(locator, 0, 4) != load_little(kLocator64Signature, 0, 4)) return std::optional<Directory>{};
  const std::uint64_t at = load_little(locator, 8, 8);
  const std::optional<Directory> nowhere{{0, 0, 0, false}};
  if (at > end_offset - kLocator64Bytes - kEnd64Bytes) return nowhere;
  VOUCHFS_ASSIGN(const std::string record, read_text(read, at, kEnd64Bytes));
  if (load_little(record, 0, 4) != load_little(kEnd64Signature, 0, 4)) return nowhere;
  const bool one_disk = load_little(locator, 16, 4) == 1 && is_one_disk(load_little(record, 16, 4), load_little(record, 20, 4)) &&
                        load_little(record, 24, 8) == load_little(record, 32, 8) && load_little(record, 4, 8) >= kEnd64Bytes - 12;
  return std::optional<Directory>{{load_little(record, 48, 8), load_little(record, 40, 8), load_little(record, 32, 8), one_disk}};
}

bool plausible(const Directory& directory, std::uint64_t end_offset) {
  return directory.usable && directory.begin <= end_offset && directory.bytes <= end_offset - directory.begin &&
         directory.entries <= directory.bytes / kCentralBytes;
}

Directory end_of(std::string_view record) {
  const bool one_disk = is_one_disk(load_little(record, 4, 2), load_little(record, 6, 2)) && load_little(record, 8, 2) == load_little(record, 10, 2);
  return {load_little(record, 16, 4), load_little(record, 12, 4), load_little(record, 10, 2), one_disk};
}

struct End {
  bool signature = false;  // some end record is there
  std::optional<Directory> directory;
};
// The last end record whose numbers can be, among the last ones: bytes behind it, or a comment, may look like another.
Result<End> find_end(std::uint64_t file_bytes, const ReadAt& read) {
  constexpr int kTries = 16;
  End end;
  const std::uint64_t tail_bytes = std::min(file_bytes, kEndBytes + kMaxComment);
  const std::uint64_t tail_begin = file_bytes - tail_bytes;
  VOUCHFS_ASSIGN(const std::string tail, read_text(read, tail_begin, tail_bytes));
  if (tail.size() < kEndBytes) return end;
  std::size_t from = tail.size() - kEndBytes;
  for (int i = 0; i < kTries; ++i) {
    const std::size_t at = tail.rfind(kEndSignature, from);
    if (at == std::string::npos) break;
    end.signature = true;
    VOUCHFS_ASSIGN(std::optional<Directory> found, read_end64(tail_begin + at, read));
    if (!found) found = end_of(std::string_view(tail).substr(at, kEndBytes));
    if (plausible(*found, tail_begin + at)) {
      end.directory = found;
      break;
    }
    if (at == 0) break;
    from = at - 1;
  }
  return end;
}

// Sizes and offset from the zip64 field (id 1), for those that the header itself leaves there.
bool take_extra64(std::string_view extra, ZipEntry& entry) {
  while (extra.size() >= 4) {
    const std::uint64_t id = load_little(extra, 0, 2);
    const std::size_t length = static_cast<std::size_t>(load_little(extra, 2, 2));
    if (length > extra.size() - 4) return false;
    std::string_view field = extra.substr(4, length);
    extra.remove_prefix(4 + length);
    if (id != 1) continue;
    for (std::uint64_t* number : {&entry.bytes, &entry.packed_bytes, &entry.header_offset}) {
      if (*number != kIn64) continue;
      if (field.size() < 8) return false;
      *number = load_little(field, 0, 8);
      field.remove_prefix(8);
    }
    return true;
  }
  return entry.bytes != kIn64 && entry.packed_bytes != kIn64 && entry.header_offset != kIn64;
}

// One central header at `at`; moves `at` behind it. False when it is none.
bool take_entry(std::string_view text, std::size_t& at, ZipEntry& entry) {
  if (text.size() - at < kCentralBytes || !text.substr(at).starts_with(kCentralSignature)) return false;
  const std::string_view header = text.substr(at, kCentralBytes);
  const std::size_t name = static_cast<std::size_t>(load_little(header, 28, 2));
  const std::size_t extra = static_cast<std::size_t>(load_little(header, 30, 2));
  const std::size_t comment = static_cast<std::size_t>(load_little(header, 32, 2));
  if (text.size() - at - kCentralBytes < name + extra + comment) return false;
  entry.flags = load_little(header, 8, 2);
  entry.method = load_little(header, 10, 2);
  entry.crc32 = static_cast<std::uint32_t>(load_little(header, 16, 4));
  entry.packed_bytes = load_little(header, 20, 4);
  entry.bytes = load_little(header, 24, 4);
  entry.header_offset = load_little(header, 42, 4);
  entry.name = text.substr(at + kCentralBytes, name);
  entry.folder = (load_little(header, 38, 4) & kFolderAttribute) != 0 || entry.name.ends_with('/');
  const bool good = load_little(header, 34, 2) <= 1 && take_extra64(text.substr(at + kCentralBytes + name, extra), entry);  // its disk, its sizes
  at += kCentralBytes + name + extra + comment;
  return good;
}

}  // namespace

Result<ZipDirectory> read_zip_directory(std::uint64_t file_bytes, const ReadAt& read) {
  ZipDirectory zip;
  VOUCHFS_ASSIGN(const End end, find_end(file_bytes, read));
  if (!end.directory) {
    zip.problem = end.signature ? directory_problem("BadCentralDirectory", "the end record points to a central directory that is not there", file_bytes)
                                : directory_problem("MissingCentralDirectory", "no end record in the last 64 KiB: the end of the file is missing", file_bytes);
    return zip;
  }
  zip.begin = end.directory->begin;
  if (end.directory->bytes > kMaxZipDirectory) {
    zip.problem = directory_problem("BadCentralDirectory", "the central directory is larger than any model's", zip.begin);
    return zip;
  }
  VOUCHFS_ASSIGN(const std::string text, read_text(read, zip.begin, end.directory->bytes));
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < end.directory->entries; ++i) {
    ZipEntry entry;
    const std::size_t entry_at = at;
    if (!take_entry(text, at, entry)) {
      zip.problem = directory_problem("BadCentralDirectory", "entry " + std::to_string(i) + " of the central directory is broken", zip.begin + entry_at);
      zip.entries.clear();
      return zip;
    }
    zip.entries.push_back(std::move(entry));
  }
  return zip;
}

}  // namespace vouchfs::formats
