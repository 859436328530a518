// Local headers, each against the central directory.
#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "formats/shown_name.h"
#include "formats/torch_bytes.h"
#include "formats/zip_directory.h"

namespace vouchfs::formats {
namespace {

constexpr std::string_view kLocalSignature = "PK\x03\x04";
constexpr std::uint64_t kDescriptorFlag = 8;     // the sizes follow the content
constexpr std::uint64_t kStrangeFlags = 0x2061;  // encrypted, a patch, strongly encrypted, masked: PyTorch refuses the whole archive
constexpr std::uint64_t kIn64 = 0xFFFFFFFF;

HeaderProblem entry_problem(const char* name, const ZipEntry& entry, const std::string& why) {
  return {name,
          "PytorchStreamReader failed reading file " + shown_name(entry.name.substr(entry.name.find('/') + 1)) + ": invalid header or archive is corrupted",
          "record '" + shown_name(entry.name) + "' " + why,
          {},
          entry.header_offset};
}

// Sizes of a header that are put off: to the descriptor behind the content, or to the zip64 field.
bool same_size(std::uint64_t local, std::uint64_t central, bool descriptor) { return local == central || local == kIn64 || (descriptor && local == 0); }

std::optional<std::string> difference(const ZipLocalHeader& local, const ZipEntry& entry) {
  if (local.name != entry.name) return "has another name in its local header: '" + shown_name(local.name) + "'";
  if (local.method != entry.method) return "has another compression in its local header";
  const bool descriptor = (local.flags & kDescriptorFlag) != 0;
  if (!same_size(local.bytes, entry.bytes, descriptor) || !same_size(local.packed_bytes, entry.packed_bytes, descriptor))
    return "has another size in its local header";
  if (local.crc32 != entry.crc32 && !(descriptor && local.crc32 == 0)) return "has another CRC-32 in its local header";
  return std::nullopt;
}

Status check_entry(ZipEntry& entry, const ZipDirectory& directory, std::uint64_t file_bytes, const ReadAt& read) {
  VOUCHFS_ASSIGN(const std::optional<ZipLocalHeader> local, read_local_header(entry.header_offset, file_bytes, read));
  if ((entry.flags & kStrangeFlags) != 0) {
    entry.problem = entry_problem("BadCentralDirectory", entry, "is encrypted or a patch of another: torch.save stores its records as they are");
    entry.problem->text = "PytorchStreamReader failed reading zip archive: unsupported encryption";
  } else if (entry.folder && entry.bytes != 0) {  // PyTorch then gives whatever its memory held before
    entry.problem = entry_problem("BadCentralDirectory", entry, "is marked as a folder, but has content: torch does not read it");
  } else if (!local) {
    entry.problem = entry_problem("BadLocalHeader", entry, "has no local header at byte " + std::to_string(entry.header_offset));
  } else if (const auto why = difference(*local, entry)) {
    entry.problem = entry_problem("BadLocalHeader", entry, *why);
  } else if (local->content > directory.begin || entry.packed_bytes > directory.begin - local->content) {
    entry.problem = entry_problem("RecordOutOfBounds", entry, "does not end before the central directory");
  } else if (has_two_sizes(entry)) {
    entry.problem = two_sizes("BadCentralDirectory", entry);
  } else {
    entry.begin = local->content;
  }
  return {};
}

void check_overlaps(ZipDirectory& directory) {
  std::vector<ZipEntry*> in_place;
  for (ZipEntry& entry : directory.entries)
    if (!entry.problem) in_place.push_back(&entry);
  std::sort(in_place.begin(), in_place.end(), [](const ZipEntry* a, const ZipEntry* b) { return a->header_offset < b->header_offset; });
  std::uint64_t end = 0;
  const ZipEntry* before = nullptr;
  for (ZipEntry* entry : in_place) {
    if (before != nullptr && entry->header_offset < end)
      entry->problem = entry_problem("BadCentralDirectory", *entry, "overlaps record '" + shown_name(before->name) + "'");
    if (entry->begin + entry->packed_bytes > end) {
      end = entry->begin + entry->packed_bytes;
      before = entry;
    }
  }
}

void check_names(ZipDirectory& directory) {
  std::unordered_set<std::string_view> names;
  for (ZipEntry& entry : directory.entries)
    if (!names.insert(entry.name).second && !entry.problem)
      entry.problem = entry_problem("BadCentralDirectory", entry, "is there twice: which one is read depends on the reader");
}

}  // namespace

Result<std::optional<ZipLocalHeader>> read_local_header(std::uint64_t offset, std::uint64_t file_bytes, const ReadAt& read) {
  std::optional<ZipLocalHeader> none;
  if (offset > file_bytes || file_bytes - offset < kLocalHeaderBytes) return none;
  std::string header;
  VOUCHFS_TRY(append_exactly(read, offset, kLocalHeaderBytes, header));
  if (!header.starts_with(kLocalSignature)) return none;
  const std::uint64_t name = load_little(header, 26, 2);
  const std::uint64_t extra = load_little(header, 28, 2);
  const std::uint64_t left = file_bytes - offset - kLocalHeaderBytes;
  if (name > left || extra > left - name) return none;
  ZipLocalHeader local;
  VOUCHFS_TRY(append_exactly(read, offset + kLocalHeaderBytes, name, local.name));
  local.flags = load_little(header, 6, 2);
  local.method = load_little(header, 8, 2);
  local.crc32 = static_cast<std::uint32_t>(load_little(header, 14, 4));
  local.packed_bytes = load_little(header, 18, 4);
  local.bytes = load_little(header, 22, 4);
  local.content = offset + kLocalHeaderBytes + name + extra;
  return std::optional<ZipLocalHeader>(std::move(local));
}

bool has_two_sizes(const ZipEntry& entry) noexcept { return entry.method == 0 && entry.bytes != entry.packed_bytes; }

HeaderProblem two_sizes(const char* name, const ZipEntry& entry) { return entry_problem(name, entry, "is stored and has two sizes"); }

Status check_local_headers(ZipDirectory& directory, std::uint64_t file_bytes, const ReadAt& read) {
  for (ZipEntry& entry : directory.entries) VOUCHFS_TRY(check_entry(entry, directory, file_bytes, read));
  check_overlaps(directory);
  check_names(directory);
  return {};
}

}  // namespace vouchfs::formats
