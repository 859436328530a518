#include "seal/seal_directory.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/utf8.h"
#include "merkle/digest_file.h"

namespace vouchfs::seal {
namespace {

constexpr const char* kSealAgain = "seal the model again with `vouchfs ingest MODEL`, or restore the file";

std::span<const std::uint8_t> bytes_of(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

Error place(Error error, const std::string& file) {
  if (error.where.file.empty()) error.where.file = file;
  return error;
}

Status read_manifest(OpenedSeal& seal, const std::optional<hash::Digest>& pinned, const hash::Sha256Engine& engine) {
  const std::string shown = seal.path + "/" + kManifestName;
  auto text = read_whole_file(seal.directory.get(), kManifestName, kMaxManifestBytes, shown);
  if (!text && text.error().code == ErrorCode::not_found)
    return fail(ErrorCode::not_found, "there is no manifest: the model is not sealed", shown, "seal it with `vouchfs ingest MODEL`");
  if (!text) return fail(std::move(text).error());
  seal.manifest_text = *std::move(text);
  seal.model_digest = merkle::digest_bytes(bytes_of(seal.manifest_text), engine);
  if (pinned && *pinned != seal.model_digest)
    return fail(ErrorCode::untrusted,
                "the seal has the model digest " + hash::to_text(seal.model_digest) + ", but " + hash::to_text(*pinned) + " was asked for", shown,
                "the seal was changed or is of another model; get the seal of that digest, or check the digest");
  auto manifest = parse_manifest(seal.manifest_text);
  if (!manifest) return fail(place(std::move(manifest).error(), shown));
  seal.manifest = *std::move(manifest);
  return {};
}

bool holds(const Manifest& manifest, const std::string& path) {
  const auto at = std::lower_bound(manifest.files.begin(), manifest.files.end(), path, [](const ManifestFile& f, const std::string& p) { return f.path < p; });
  return at != manifest.files.end() && at->path == path;
}

Status check_members(const OpenedSeal& seal, const std::string& shown) {
  for (const formats::IndexRecord& index : seal.table.indexes)
    for (const std::string& member : index.members)
      if (const std::string path = index.folder.empty() ? member : index.folder + "/" + member; !holds(seal.manifest, path))
        return fail(ErrorCode::bad_format, "the index '" + printable(index.file_name) + "' covers '" + printable(path) + "', which the manifest does not hold",
                    shown);
  return {};
}

// A file of the table that the manifest does not know would make promises about bytes that nothing seals.
Status check_files(const OpenedSeal& seal, const std::string& shown) {
  const auto& files = seal.manifest.files;
  for (const TableFile& file : seal.table.files) {
    const auto at = std::lower_bound(files.begin(), files.end(), file.path, [](const ManifestFile& f, const std::string& path) { return f.path < path; });
    if (at == files.end() || at->path != file.path)
      return fail(ErrorCode::bad_format, "the tensor table speaks of '" + printable(file.path) + "', which the manifest does not hold", shown);
    // The last tensor to begin need not be the last to end.
    const auto past = std::find_if(file.tensors.begin(), file.tensors.end(), [&](const formats::Tensor& tensor) { return tensor.end > at->bytes; });
    if (past != file.tensors.end())
      return fail(ErrorCode::bad_format, "tensor '" + printable(past->name) + "' ends past the end of '" + printable(file.path) + "'", shown);
  }
  return {};
}

// A piece past the end of its file could never be served.
Status check_fixes(const OpenedSeal& seal, const std::string& shown) {
  const auto& files = seal.manifest.files;
  for (const FileFix& fix : seal.table.fixes) {
    const auto at = std::lower_bound(files.begin(), files.end(), fix.path, [](const ManifestFile& f, const std::string& path) { return f.path < path; });
    if (at == files.end() || at->path != fix.path)
      return fail(ErrorCode::bad_format, "the tensor table mends '" + printable(fix.path) + "', which the manifest does not hold", shown);
    for (const FixPiece& piece : fix.pieces)
      if (piece.end > at->bytes) return fail(ErrorCode::bad_format, "a piece of the fix of '" + printable(fix.path) + "' ends past the end of the file", shown);
  }
  return {};
}

Status read_table(OpenedSeal& seal, const hash::Sha256Engine& engine) {
  const Manifest& manifest = seal.manifest;
  const std::string path = table_path(manifest.tensors_fsverity);
  const std::string shown = seal.path + "/" + path;
  auto text = read_whole_file(seal.directory.get(), path, kMaxTableBytes, shown);
  if (!text && text.error().code == ErrorCode::not_found)
    return fail(ErrorCode::untrusted, "the tensor table that the manifest names is lost", shown, kSealAgain);
  if (!text) return fail(std::move(text).error());
  seal.table_text = *std::move(text);
  if (seal.table_text.size() != manifest.tensors_bytes)
    return fail(ErrorCode::untrusted,
                "the tensor table has " + std::to_string(seal.table_text.size()) + " bytes; the manifest says " + std::to_string(manifest.tensors_bytes), shown,
                kSealAgain);
  const hash::Digest digest = merkle::digest_bytes(bytes_of(seal.table_text), engine);
  if (digest != manifest.tensors_fsverity)
    return fail(ErrorCode::untrusted,
                "the tensor table has the digest " + hash::to_text(digest) + "; the manifest says " + hash::to_text(manifest.tensors_fsverity), shown,
                kSealAgain);
  auto table = parse_tensor_table(seal.table_text);
  if (!table) return fail(place(std::move(table).error(), shown));
  seal.table = *std::move(table);
  VOUCHFS_TRY(check_files(seal, shown));
  VOUCHFS_TRY(check_fixes(seal, shown));
  return check_members(seal, shown);
}

}  // namespace

std::string tree_path(const hash::Digest& file_digest) { return std::string(kTreesFolder) + "/" + hash::to_hex(file_digest) + ".tree"; }
std::string table_path(const hash::Digest& table_digest) { return std::string(kTablesFolder) + "/" + hash::to_hex(table_digest) + ".json"; }
std::string seal_path(const std::string& model_dir, const std::optional<std::string>& seal_dir) { return seal_dir ? *seal_dir : model_dir + "/" + kSealFolder; }

Result<OpenedSeal> open_seal(const std::string& seal_dir, const std::optional<hash::Digest>& pinned, const hash::Sha256Engine& engine) {
  OpenedSeal seal;
  seal.path = seal_dir;
  auto directory = open_at(AT_FDCWD, seal_dir, O_PATH | O_DIRECTORY, seal_dir);
  if (!directory && directory.error().code == ErrorCode::not_found)
    return fail(ErrorCode::not_found, "there is no seal here", seal_dir, "seal the model with `vouchfs ingest MODEL`");
  if (!directory) return fail(std::move(directory).error());
  seal.directory = *std::move(directory);
  VOUCHFS_TRY(read_manifest(seal, pinned, engine));
  VOUCHFS_TRY(read_table(seal, engine));
  return seal;
}

}  // namespace vouchfs::seal
