// zip_directory.h: the members of a zip archive as its central directory and their local headers say. Internal to core/formats.
// Layer:  core/formats (2).
// Source: the zip application note (APPNOTE 6.3): end record, zip64 end record and locator, central and local headers.
// Errors: io from the reader. A broken archive is a verdict, worded as PyTorch's reader words it.
// Cost:   the last 64 KiB, the directory (at most kMaxZipDirectory), and one small read a member.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/byte_reader.h"
#include "formats/header_problem.h"

namespace vouchfs::formats {

inline constexpr std::uint64_t kMaxZipDirectory = 256U << 20;
inline constexpr std::uint64_t kLocalHeaderBytes = 30;  // before the name

struct ZipEntry {
  std::string name;
  bool folder = false;  // by its DOS attributes or the end of its name: readers take no content from it
  std::uint64_t flags = 0;
  std::uint64_t method = 0;  // 0: stored
  std::uint32_t crc32 = 0;
  std::uint64_t packed_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t header_offset = 0;
  std::uint64_t begin = 0;               // of the content; 0 until the local header is read and fits
  std::optional<HeaderProblem> problem;  // of this member alone
};

struct ZipDirectory {
  std::uint64_t begin = 0;               // of the central directory, from the start of the file
  std::vector<ZipEntry> entries;         // in its order
  std::optional<HeaderProblem> problem;  // MissingCentralDirectory or BadCentralDirectory: then there are no entries
};

Result<ZipDirectory> read_zip_directory(std::uint64_t file_bytes, const ReadAt& read);

// Reads every local header: sets begin, or the problem of the entry (BadLocalHeader, RecordOutOfBounds). Entries that share bytes or a name
// are a problem of the later one.
Status check_local_headers(ZipDirectory& directory, std::uint64_t file_bytes, const ReadAt& read);

// A local header as it stands in the file.
struct ZipLocalHeader {
  std::string name;
  std::uint64_t flags = 0;
  std::uint64_t method = 0;
  std::uint32_t crc32 = 0;
  std::uint64_t packed_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t content = 0;  // offset of the first byte behind it
};
// nullopt when there is none at `offset`, or it is cut.
Result<std::optional<ZipLocalHeader>> read_local_header(std::uint64_t offset, std::uint64_t file_bytes, const ReadAt& read);

// A stored member is as long packed as unpacked: one that is not has no size to go by.
bool has_two_sizes(const ZipEntry& entry) noexcept;
HeaderProblem two_sizes(const char* name, const ZipEntry& entry);

}  // namespace vouchfs::formats
