#include "mount_tools/tensor_ranges.h"

#include <fcntl.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/units.h"
#include "seal/tensor_table.h"

namespace vouchfs::mount_tools {
namespace {

namespace stdfs = std::filesystem;

constexpr const char* kTableFile = ".vouch/tensors.json";

// The table of the model that the last file asked for lies in: files come in order of path, so those of one model lie together.
class Tables {
 public:
  struct Found {
    const seal::TensorTable* table;
    std::string path;  // of the file in its model
  };

  Result<Found> of(const std::string& file) {
    std::error_code failed;
    const stdfs::path whole = stdfs::canonical(file, failed);
    for (stdfs::path folder = whole.parent_path(); !failed; folder = folder.parent_path()) {
      if (folder == root_ || stdfs::exists(folder / kTableFile, failed)) {
        VOUCHFS_TRY(load(folder));
        return Found{&table_, whole.lexically_relative(folder).string()};
      }
      if (folder == folder.parent_path()) break;
    }
    return fail(ErrorCode::not_found, "no folder above it has a " + std::string(kTableFile), file, "warm whole files instead");
  }

 private:
  Status load(const stdfs::path& folder) {
    if (folder == root_) return {};
    const std::string path = (folder / kTableFile).string();
    VOUCHFS_ASSIGN(const std::string text, read_whole_file(AT_FDCWD, path, seal::kMaxTableBytes, path));
    VOUCHFS_ASSIGN(table_, seal::parse_tensor_table(text));
    root_ = folder;
    return {};
  }

  stdfs::path root_;
  seal::TensorTable table_;
};

bool matches(const std::string& name, const std::vector<std::string>& globs) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0; });
}

// Adds where bytes [range) of the file on disk are shown: elsewhere in a file that the mount mends.
void add_shown(const seal::FileFix* fix, ByteRange range, std::vector<ByteRange>& out) {
  if (fix == nullptr) return out.push_back(range);
  std::uint64_t at = 0;
  for (const seal::FixPiece& piece : fix->pieces) {
    const ByteRange kept{std::max(range.begin, piece.begin), std::min(range.end, piece.end)};
    if (piece.literal.empty() && kept.begin < kept.end) out.push_back({at + kept.begin - piece.begin, at + kept.end - piece.begin});
    at += piece.bytes();
  }
}

std::vector<ByteRange> whole_blocks(std::vector<ByteRange> ranges, std::uint64_t file_bytes) {
  std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  std::vector<ByteRange> out;
  for (const ByteRange& range : ranges) {
    const std::uint64_t begin = range.begin / kBlockBytes * kBlockBytes;
    const std::uint64_t end = std::min(file_bytes, (range.end + kBlockBytes - 1) / kBlockBytes * kBlockBytes);
    if (out.empty() || begin > out.back().end)
      out.push_back({begin, end});
    else
      out.back().end = std::max(out.back().end, end);
  }
  return out;
}

std::vector<ByteRange> ranges_of(const seal::TensorTable& table, const std::string& path, const std::vector<std::string>& globs, std::uint64_t file_bytes) {
  const auto file = std::find_if(table.files.begin(), table.files.end(), [&](const seal::TableFile& row) { return row.path == path; });
  if (file == table.files.end()) return {};
  const seal::FileFix* const fix = seal::find_fix(table, path);
  std::vector<ByteRange> ranges;
  for (const formats::Tensor& tensor : file->tensors)
    if (tensor.bytes() != 0 && matches(tensor.name, globs)) add_shown(fix, {tensor.begin, tensor.end}, ranges);
  return whole_blocks(std::move(ranges), file_bytes);
}

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

}  // namespace

Status narrow_to_tensors(std::vector<WarmFile>& files, const std::vector<std::string>& globs) {
  Tables tables;
  for (WarmFile& file : files) {
    VOUCHFS_ASSIGN(const Tables::Found found, tables.of(file.path));
    file.ranges = ranges_of(*found.table, found.path, globs, file.bytes);
    file.bytes = 0;
    for (const ByteRange& range : file.ranges) file.bytes += range.bytes();
  }
  std::erase_if(files, [](const WarmFile& file) { return file.ranges.empty(); });
  if (files.empty()) return fail(ErrorCode::not_found, "no tensor of these files matches", joined(globs), "see the names with: vouchfs ls MODEL");
  return {};
}

}  // namespace vouchfs::mount_tools
