// SHA256SUMS, NAME.sha256 and their like inside the model.
#include <fcntl.h>

#include <filesystem>

#include "base/file.h"
#include "base/utf8.h"
#include "formats/shard_groups.h"
#include "formats/store_files.h"
#include "publisher/evidence_sources.h"

namespace vouchfs::publisher {
namespace {

constexpr std::string_view kEnding = ".sha256";

struct SplitPath {
  std::string folder;  // with its slash, or ""
  std::string name;
};
SplitPath split(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? SplitPath{"", path} : SplitPath{path.substr(0, slash + 1), path.substr(slash + 1)};
}

std::string counted(std::size_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

// "NAME" of NAME.sha256, else "".
std::string named_by(const std::string& list_name) {
  const std::size_t stem = list_name.size() > kEnding.size() ? list_name.size() - kEnding.size() : 0;
  return stem != 0 && list_name.compare(stem, kEnding.size(), kEnding) == 0 ? list_name.substr(0, stem) : std::string();
}

// The file of the model that a line speaks of, or "" when it is none.
std::string file_of_line(const Collector& collector, const SplitPath& list, const formats::ChecksumLine& line) {
  const std::string own = named_by(list.name);
  if (line.file.empty()) return own.empty() ? std::string() : list.folder + own;
  std::string path = std::filesystem::path(list.folder + line.file).lexically_normal().string();
  const bool inside = line.file.front() != '/' && formats::is_plain_relative_path(path) && is_utf8(path);
  if (inside && collector.holds(path)) return path;
  // NAME.sha256 made in another folder: "build/NAME", "/srv/build/NAME".
  if (!own.empty() && split(line.file).name == own) return list.folder + own;
  return inside ? path : std::string();
}

void collect_list(Collector& collector, const std::string& list_path) {
  const auto text = read_whole_file(AT_FDCWD, collector.on_disk(list_path), formats::kMaxStoreFileBytes, list_path);
  const auto parsed = text ? formats::parse_sha256sums(*text) : Result<formats::ChecksumList>(fail(text.error()));
  if (!parsed) return collector.note(cannot_use(list_path, parsed.error()));
  if (parsed->odd_lines != 0)
    collector.note(printable(list_path) + ": " + counted(parsed->odd_lines, "line") + " cannot be used, the others are (" + parsed->first_odd_line + ")");
  const SplitPath list = split(list_path);
  std::size_t outside = 0;
  for (const formats::ChecksumLine& line : parsed->lines) {
    const std::string path = file_of_line(collector, list, line);
    if (path.empty())
      ++outside;
    else if (path != list_path)  // `find . -type f -exec sha256sum {} + > SHA256SUMS` lists the list, as it was while it was empty
      collector.add(path, {EvidenceKind::sha256sums, DigestKind::sha256, line.sha256, std::nullopt, list_path}, true);
  }
  if (outside != 0) collector.note(printable(list_path) + " names " + counted(outside, "file") + " that cannot lie in the model");
}

}  // namespace

void collect_checksum_lists(Collector& collector) {
  for (const std::string& path : collector.paths())
    if (formats::is_checksum_list_name(split(path).name)) collect_list(collector, path);
}

}  // namespace vouchfs::publisher
