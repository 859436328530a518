#include "doctor/leaf_hashes.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "hash/sha256.h"
#include "merkle/descriptor.h"

namespace vouchfs::doctor {
namespace {

hash::Digest digest_at(const std::array<std::uint8_t, kBlockBytes>& bytes, std::uint64_t slot) {
  hash::Digest digest;
  std::memcpy(digest.data(), bytes.data() + slot * hash::kDigestBytes, hash::kDigestBytes);
  return digest;
}

}  // namespace

LeafHashes::LeafHashes(const seal::ManifestFile& sealed, UniqueFd fd, std::string shown)
    : geometry_(sealed.bytes), fsverity_(sealed.fsverity), fd_(std::move(fd)), shown_(std::move(shown)), levels_(geometry_.levels()) {}

Status LeafHashes::check(std::size_t level, std::uint64_t index) {
  const hash::Digest actual = hash::sha256(levels_[level].bytes);
  const bool root = level + 1 == levels_.size();
  const bool right =
      root ? merkle::file_digest(actual, geometry_.file_bytes()) == fsverity_ : actual == digest_at(levels_[level + 1].bytes, index % merkle::kArity);
  if (right) return {};
  return fail(ErrorCode::corrupt, "tree block " + std::to_string(geometry_.start_of(level) + index) + " is damaged", shown_,
              "seal the model again from files that are right");
}

Status LeafHashes::hold(std::size_t level, std::uint64_t index) {
  Level& at = levels_[level];
  if (at.held == index) return {};
  if (level + 1 < levels_.size()) VOUCHFS_TRY(hold(level + 1, index / merkle::kArity));
  at.held.reset();
  VOUCHFS_ASSIGN(const std::size_t got, read_full(fd_.get(), (geometry_.start_of(level) + index) * kBlockBytes, at.bytes, shown_));
  std::fill(at.bytes.begin() + static_cast<std::ptrdiff_t>(got), at.bytes.end(), std::uint8_t{0});
  VOUCHFS_TRY(check(level, index));
  at.held = index;
  return {};
}

Result<hash::Digest> LeafHashes::leaf(std::uint64_t block) {
  VOUCHFS_TRY(hold(0, block / merkle::kArity));
  return digest_at(levels_[0].bytes, block % merkle::kArity);
}

Result<LeafHashes> LeafHashes::open(const std::string& tree_file, const seal::ManifestFile& sealed) {
  VOUCHFS_ASSIGN(UniqueFd fd, open_at(AT_FDCWD, tree_file, O_RDONLY | O_NONBLOCK, tree_file));
  LeafHashes leaves(sealed, std::move(fd), tree_file);
  for (std::uint64_t index = 0; index < leaves.geometry_.blocks_at(0); ++index) VOUCHFS_TRY(leaves.hold(0, index));
  return leaves;
}

}  // namespace vouchfs::doctor
