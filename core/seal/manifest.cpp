#include "seal/manifest.h"

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "base/utf8.h"
#include "formats/json_fields.h"
#include "formats/json_reader.h"
#include "seal/json_digest.h"
#include "seal/tensor_table.h"

namespace vouchfs::seal {
namespace {

constexpr std::string_view kFormat = "vouchfs-manifest";
constexpr std::uint64_t kVersion = 1;
constexpr std::string_view kHash = "sha256";
constexpr std::size_t kMaxWordBytes = 64;

Status refuse(std::string message) { return fail(ErrorCode::bad_format, std::move(message)); }

std::string quoted(std::string_view path) { return "'" + printable(path) + "'"; }

Status check_name(std::string_view name, std::string_view path) {
  if (name.empty()) return refuse("path " + quoted(path) + " has an empty name in it");
  if (name == "." || name == "..") return refuse("path " + quoted(path) + " has the name '" + std::string(name) + "' in it");
  if (name.size() > kMaxNameBytes)
    return refuse("path " + quoted(path) + " has a name of " + std::to_string(name.size()) + " bytes; at most " + std::to_string(kMaxNameBytes) +
                  " are allowed");
  return {};
}

// Whether `folder` + "/" begins any of the sorted paths. Paths below a folder are not always its neighbours: "a.b" sorts between "a" and "a/b".
bool has_children(const std::vector<ManifestFile>& files, const std::string& folder) {
  const std::string start = folder + "/";
  const auto at = std::lower_bound(files.begin(), files.end(), start, [](const ManifestFile& file, const std::string& path) { return file.path < path; });
  return at != files.end() && at->path.starts_with(start);
}

Status check_tree(const std::vector<ManifestFile>& files) {
  for (const ManifestFile& file : files)
    if (has_children(files, file.path)) return refuse("path " + quoted(file.path) + " is a file and a folder");
  return {};
}

// Values that version 1 fixes.
class Constants {
 public:
  formats::JsonLeaf format{"format", word("format", kFormat)};
  formats::JsonLeaf hash{"hash", word("hash", kHash)};
  formats::JsonLeaf version{"version", number("version", kVersion)};
  formats::JsonLeaf block_size{"block_size", number("block_size", kBlockBytes)};

 private:
  static formats::JsonLeaf::Take word(std::string what, std::string_view wanted) {
    return formats::take_text(what, kMaxWordBytes, [what, wanted](std::string&& text) -> Status {
      if (text == wanted) return {};
      return refuse(what + " is " + quoted(text) + "; this version reads '" + std::string(wanted) + "'");
    });
  }
  static formats::JsonLeaf::Take number(std::string what, std::uint64_t wanted) {
    return formats::take_number(what, UINT64_MAX, [what, wanted](std::uint64_t value) -> Status {
      if (value == wanted) return {};
      return refuse(what + " is " + std::to_string(value) + "; this version reads " + std::to_string(wanted));
    });
  }
};

class ManifestReader {
 public:
  explicit ManifestReader(Manifest& manifest) : manifest_(manifest) {
    entry_.field("path", path_).field("size", size_).field("fsverity", fsverity_).field("sha256", sha256_);
    tensors_.field("size", table_size_).field("fsverity", table_fsverity_);
    root_.field("format", constants_.format).field("version", constants_.version).field("hash", constants_.hash);
    root_.field("block_size", constants_.block_size).field("files", files_).field("tensors", tensors_);
  }
  Status read(std::string_view text) { return formats::read_json(text, root_); }

 private:
  Status keep_file() {
    if (!manifest_.files.empty() && file_.path <= manifest_.files.back().path)
      return refuse("path " + quoted(file_.path) + " stands after " + quoted(manifest_.files.back().path) + ": paths must be sorted, each once");
    manifest_.files.push_back(std::move(file_));
    return {};
  }

  Manifest& manifest_;
  ManifestFile file_;
  Constants constants_;
  formats::JsonLeaf path_{"path", formats::take_text("path", kMaxPathBytes, [this](std::string&& text) {
                            file_.path = std::move(text);
                            return check_path(file_.path);
                          })};
  formats::JsonLeaf size_{"size", formats::take_number("size", kMaxFileBytes, [this](std::uint64_t value) {
                            file_.bytes = value;
                            return Status{};
                          })};
  formats::JsonLeaf fsverity_{"fsverity", take_digest("fsverity", file_.fsverity)};
  formats::JsonLeaf sha256_{"sha256", take_digest("sha256", file_.sha256)};
  formats::JsonObject entry_{"files", {}, [this] { return keep_file(); }};
  formats::JsonList files_{"files", kMaxFiles, entry_};
  formats::JsonLeaf table_size_{"size", formats::take_number("tensors.size", kMaxTableBytes, [this](std::uint64_t value) {
                                  manifest_.tensors_bytes = value;
                                  return Status{};
                                })};
  formats::JsonLeaf table_fsverity_{"fsverity", take_digest("tensors.fsverity", manifest_.tensors_fsverity)};
  formats::JsonObject tensors_{"tensors"};
  formats::JsonObject root_{"manifest"};
};

void append_file(std::string& out, const ManifestFile& file) {
  out += "{\"fsverity\":\"" + hash::to_hex(file.fsverity) + "\",\"path\":";
  formats::append_json_string(out, file.path);
  out += ",\"sha256\":\"" + hash::to_hex(file.sha256) + "\",\"size\":" + std::to_string(file.bytes) + "}";
}

}  // namespace

Status check_path(std::string_view path) {
  if (path.empty()) return refuse("a path is empty");
  if (path.size() > kMaxPathBytes)
    return refuse("a path has " + std::to_string(path.size()) + " bytes; at most " + std::to_string(kMaxPathBytes) + " are allowed");
  if (path.find('\0') != std::string_view::npos) return refuse("path " + quoted(path) + " holds a NUL byte");
  if (!is_utf8(path)) return refuse("path " + quoted(path) + " is no UTF-8");
  for (std::string_view rest = path;;) {
    const auto slash = rest.find('/');
    VOUCHFS_TRY(check_name(rest.substr(0, slash), path));
    if (slash == std::string_view::npos) return {};
    rest.remove_prefix(slash + 1);
  }
}

std::string write_manifest(const Manifest& manifest) {
  std::string out = "{\"block_size\":" + std::to_string(kBlockBytes) + ",\"files\":[";
  for (const ManifestFile& file : manifest.files) {
    if (&file != manifest.files.data()) out += ',';
    append_file(out, file);
  }
  out += "],\"format\":\"" + std::string(kFormat) + "\",\"hash\":\"" + std::string(kHash) + "\",\"tensors\":{\"fsverity\":\"" +
         hash::to_hex(manifest.tensors_fsverity);
  out += "\",\"size\":" + std::to_string(manifest.tensors_bytes) + "},\"version\":" + std::to_string(kVersion) + "}\n";
  return out;
}

Result<Manifest> parse_manifest(std::string_view text) {
  if (text.size() > kMaxManifestBytes)
    return fail(ErrorCode::bad_format,
                "the manifest has " + std::to_string(text.size()) + " bytes; at most " + std::to_string(kMaxManifestBytes) + " are read");
  Manifest manifest;
  if (Status status = ManifestReader(manifest).read(text); !status) return fail(std::move(status).error().with("the manifest is not valid"));
  VOUCHFS_TRY(check_tree(manifest.files));
  return manifest;
}

}  // namespace vouchfs::seal
