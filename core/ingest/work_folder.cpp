#include "ingest/work_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/aligned_buffer.h"
#include "base/file.h"
#include "merkle/descriptor.h"
#include "merkle/geometry.h"
#include "seal/seal_directory.h"

namespace vouchfs::ingest {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxRecordBytes = 32 << 10;  // a path of 4095 bytes, escaped, and eight numbers
const std::string kFolder = std::string(seal::kWorkFolder) + "/";

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// A name of fixed length, whatever the path.
std::string record_name(const std::string& path) { return kFolder + hash::to_hex(hash::sha256(std::string_view(path))).substr(0, 32) + ".json"; }

template <class T>
bool read_number(const json& object, const char* key, T& number) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return false;
  number = found->get<T>();
  return true;
}

bool read_digest(const json& object, const char* key, hash::Digest& digest) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return false;
  const auto parsed = hash::parse_hex(found->get_ref<const std::string&>());
  if (parsed) digest = *parsed;
  return parsed.has_value();
}

}  // namespace

std::string WorkFolder::tree_name(const hash::Digest& fsverity) { return kFolder + hash::to_hex(fsverity) + ".tree"; }

std::string WorkFolder::part_name(std::size_t number) const { return kFolder + std::to_string(number) + ".part"; }

Result<WorkFolder> WorkFolder::open(const SealTarget& target) {
  WorkFolder work(target);
  VOUCHFS_TRY(work.load());
  return work;
}

Status WorkFolder::load() {
  VOUCHFS_ASSIGN(const std::vector<std::string> names, list_folder(target_->fd(), seal::kWorkFolder, target_->shown(seal::kWorkFolder)));
  for (const std::string& name : names) {
    if (ends_with(name, ".json")) load_record(kFolder + name);
    if (ends_with(name, ".part")) ::unlinkat(target_->fd(), (kFolder + name).c_str(), 0);
  }
  return {};
}

void WorkFolder::load_record(const std::string& name) {
  const auto text = read_whole_file(target_->fd(), name, kMaxRecordBytes, name);
  if (!text) return;
  const json object = json::parse(*text, nullptr, false);
  if (!object.is_object()) return;
  Record record;
  FileIdentity& id = record.identity;
  const auto path = object.find("path");
  const bool complete = path != object.end() && path->is_string() && read_number(object, "bytes", id.bytes) && read_number(object, "mtime_ns", id.mtime_ns) &&
                        read_number(object, "ctime_ns", id.ctime_ns) && read_number(object, "inode", id.inode) && read_number(object, "device", id.device) &&
                        read_number(object, "started_ns", record.started_ns) && read_digest(object, "fsverity", record.hashed.fsverity) &&
                        read_digest(object, "sha256", record.hashed.sha256);
  if (const auto git = object.find("git_sha1"); git != object.end() && git->is_string()) record.hashed.git_sha1 = hash::parse_git_sha1(git->get_ref<const std::string&>());
  if (complete) records_.insert_or_assign(path->get<std::string>(), record);
}

std::optional<HashedFile> WorkFolder::take_over(const ScannedFile& file, const hash::Sha256Engine& engine, bool git_sha1) const {
  const auto found = records_.find(file.path);
  if (found == records_.end() || found->second.identity != file.identity) return std::nullopt;
  if (git_sha1 && !found->second.hashed.git_sha1) return std::nullopt;
  const std::int64_t touched = std::max(file.identity.mtime_ns, file.identity.ctime_ns);
  const bool racy = touched > found->second.started_ns - kRacyNs;
  if (racy || !tree_fits(file, found->second.hashed.fsverity, engine)) return std::nullopt;
  return found->second.hashed;
}

// Hashes the tree level by level, root block first, and compares each block with its hash in the level above.
bool WorkFolder::tree_fits(const ScannedFile& file, const hash::Digest& fsverity, const hash::Sha256Engine& engine) const {
  const merkle::Geometry geometry(file.identity.bytes);
  if (geometry.levels() == 0) return true;
  const std::string name = tree_name(fsverity);
  const auto fd = open_at(target_->fd(), name, O_RDONLY, name);
  struct stat info {};
  if (!fd || ::fstat(fd->get(), &info) != 0 || static_cast<std::uint64_t>(info.st_size) != geometry.tree_bytes()) return false;
  AlignedBuffer parent(kBlockBytes);
  AlignedBuffer children(merkle::kArity * kBlockBytes);
  std::array<hash::Digest, merkle::kArity> hashes;
  const auto read_blocks = [&](std::uint64_t first, std::span<std::uint8_t> dst) {
    const auto got = read_full(fd->get(), first * kBlockBytes, dst, name);
    return got && *got == dst.size();
  };
  if (!read_blocks(0, parent.span())) return false;
  if (merkle::file_digest(hash::sha256(parent.span()), file.identity.bytes) != fsverity) return false;
  for (std::size_t level = geometry.levels() - 1; level > 0; --level) {
    for (std::uint64_t block = 0; block < geometry.blocks_at(level); ++block) {
      const std::uint64_t first = block * merkle::kArity;
      const auto count = static_cast<std::size_t>(std::min(merkle::kArity, geometry.blocks_at(level - 1) - first));
      const auto bytes = children.span().first(count * kBlockBytes);
      if (!read_blocks(geometry.start_of(level) + block, parent.span()) || !read_blocks(geometry.start_of(level - 1) + first, bytes)) return false;
      engine.hash_many(bytes, kBlockBytes, std::span(hashes).first(count));
      if (std::memcmp(hashes.data(), parent.data(), count * hash::kDigestBytes) != 0) return false;
    }
  }
  return true;
}

Result<UniqueFd> WorkFolder::create_part(std::size_t number) const {
  const std::string name = part_name(number);
  return open_at(target_->fd(), name, O_RDWR | O_CREAT | O_TRUNC, target_->shown(name));
}

Status WorkFolder::keep_tree(std::size_t number, int part_fd, const hash::Digest& fsverity) const {
  const std::string part = part_name(number);
  VOUCHFS_TRY(sync_fd(part_fd, target_->shown(part)));
  if (::renameat(target_->fd(), part.c_str(), target_->fd(), tree_name(fsverity).c_str()) != 0)
    return fail(errno_error(errno, "cannot rename", target_->shown(part)));
  return {};
}

void WorkFolder::drop_part(std::size_t number) const { ::unlinkat(target_->fd(), part_name(number).c_str(), 0); }

Status WorkFolder::record(const ScannedFile& file, const HashedFile& hashed, std::int64_t started_ns) const {
  if (file.identity.bytes < kRecordBytes) return {};
  const FileIdentity& id = file.identity;
  json object = {{"path", file.path},     {"bytes", id.bytes},   {"mtime_ns", id.mtime_ns},     {"ctime_ns", id.ctime_ns},
                       {"inode", id.inode},     {"device", id.device}, {"started_ns", started_ns},    {"fsverity", hash::to_hex(hashed.fsverity)},
                       {"sha256", hash::to_hex(hashed.sha256)}};
  if (hashed.git_sha1) object["git_sha1"] = hash::to_hex(*hashed.git_sha1);
  const std::string name = record_name(file.path);
  VOUCHFS_ASSIGN(const UniqueFd fd, open_at(target_->fd(), name, O_WRONLY | O_CREAT | O_TRUNC, target_->shown(name)));
  const std::string text = object.dump();
  return write_full(fd.get(), 0, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, target_->shown(name));
}

}  // namespace vouchfs::ingest
