#include "formats/zip_front.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "formats/shown_name.h"
#include "formats/torch_bytes.h"

namespace vouchfs::formats {
namespace {

constexpr std::string_view kDescriptorSignature = "PK\x07\x08";
constexpr std::uint64_t kDescriptorBytes = 16;    // signature, CRC-32, two sizes
constexpr std::uint64_t kDescriptor64Bytes = 24;  // the same with sizes of 8 bytes
constexpr std::uint64_t kDescriptorFlag = 8;
constexpr std::uint64_t kIn64 = 0xFFFFFFFF;
constexpr std::uint64_t kFirstScan = 4096;
static_assert((kMaxScan / kFirstScan & (kMaxScan / kFirstScan - 1)) == 0, "the last piece ends at kMaxScan");

Result<std::string> read_up_to(const ReadAt& read, std::uint64_t offset, std::uint64_t count, std::uint64_t file_bytes) {
  std::string text;
  if (offset < file_bytes) VOUCHFS_TRY(append_exactly(read, offset, std::min(count, file_bytes - offset), text));
  return text;
}

// Bytes of the descriptor at the start of `text` for content of `bytes` bytes; 0 when it is none.
std::uint64_t descriptor_bytes(std::string_view text, std::uint64_t bytes) {
  if (!text.starts_with(kDescriptorSignature) || text.size() < kDescriptorBytes) return 0;
  if (text.size() >= kDescriptor64Bytes && load_little(text, 8, 8) == bytes && load_little(text, 16, 8) == bytes) return kDescriptor64Bytes;
  return load_little(text, 8, 4) == bytes && load_little(text, 12, 4) == bytes ? kDescriptorBytes : 0;
}

// The size of content of which only the descriptor behind it tells: a signature whose sizes are the way to it.
Result<std::optional<std::uint64_t>> scan_size(std::uint64_t content, std::uint64_t file_bytes, const ReadAt& read) {
  // In growing pieces, so that a file of many such members costs no more than a few times its own bytes.
  std::string text;
  for (std::uint64_t count = kFirstScan; count <= kMaxScan; count *= 2) {
    VOUCHFS_ASSIGN(const std::string more, read_up_to(read, content + text.size(), count - text.size(), file_bytes));
    const std::size_t again = std::min<std::size_t>(text.size(), kDescriptor64Bytes);  // one that the end of the last piece cut
    const std::size_t from = text.size() - again;
    text += more;
    for (std::size_t at = text.find(kDescriptorSignature, from); at != std::string::npos; at = text.find(kDescriptorSignature, at + 1))
      if (descriptor_bytes(std::string_view(text).substr(at), at) != 0) return std::optional<std::uint64_t>(at);
    if (more.empty()) break;
  }
  return std::optional<std::uint64_t>{};
}

ZipEntry entry_of(ZipLocalHeader&& local, std::uint64_t offset) {
  ZipEntry entry;
  entry.name = std::move(local.name);
  entry.flags = local.flags;
  entry.method = local.method;
  entry.crc32 = local.crc32;
  entry.packed_bytes = local.packed_bytes;
  entry.bytes = local.bytes;
  entry.header_offset = offset;
  entry.begin = local.content;
  return entry;
}

// Sets the sizes of an entry; false when nobody knows them.
Result<bool> find_size(ZipEntry& entry, std::uint64_t file_bytes, const ReadAt& read, const KnownSize& known_size) {
  const bool later = (entry.flags & kDescriptorFlag) != 0 && entry.packed_bytes == 0;
  if (!later && entry.packed_bytes != kIn64) return true;
  VOUCHFS_ASSIGN(std::optional<std::uint64_t> bytes, known_size(entry));
  if (!bytes) {
    VOUCHFS_ASSIGN(bytes, scan_size(entry.begin, file_bytes, read));
  }
  if (!bytes) return false;
  entry.bytes = entry.packed_bytes = *bytes;
  return true;
}

void mark_cut(ZipEntry& entry, std::uint64_t file_bytes, bool size_known) {
  const std::uint64_t there = file_bytes - std::min(file_bytes, entry.begin);
  std::string why = "record '" + shown_name(entry.name) + "' is cut: the file ends after " + std::to_string(there);
  why += size_known ? " of its " + std::to_string(entry.packed_bytes) + " bytes" : " bytes, and its size is not known";
  entry.problem =
      HeaderProblem{"UnexpectedEnd", "PytorchStreamReader failed reading zip archive: failed finding central directory", std::move(why), {}, file_bytes};
}

void mark_two_sizes(ZipEntry& entry) {
  if (!has_two_sizes(entry)) return;
  entry.problem = two_sizes("BadLocalHeader", entry);
  entry.begin = 0;
}

}  // namespace

Result<std::vector<ZipEntry>> read_zip_front(std::uint64_t file_bytes, const ReadAt& read, const KnownSize& known_size) {
  std::vector<ZipEntry> entries;
  for (std::uint64_t at = 0;;) {
    VOUCHFS_ASSIGN(std::optional<ZipLocalHeader> local, read_local_header(at, file_bytes, read));
    if (!local) return entries;
    entries.push_back(entry_of(*std::move(local), at));
    ZipEntry& entry = entries.back();
    VOUCHFS_ASSIGN(const bool known, find_size(entry, file_bytes, read, known_size));
    if (!known || entry.packed_bytes > file_bytes - entry.begin) {
      mark_cut(entry, file_bytes, known);
      return entries;
    }
    const std::uint64_t end = entry.begin + entry.packed_bytes;
    mark_two_sizes(entry);
    VOUCHFS_ASSIGN(const std::string behind, read_up_to(read, end, kDescriptor64Bytes, file_bytes));
    const std::uint64_t descriptor = descriptor_bytes(behind, entry.packed_bytes);
    if (descriptor != 0) entry.crc32 = static_cast<std::uint32_t>(load_little(behind, 4, 4));
    at = end + descriptor;
  }
}

}  // namespace vouchfs::formats
