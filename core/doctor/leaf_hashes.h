// leaf_hashes.h: the leaf hashes of one file's stored tree, each checked up to the digest in the manifest. Internal to core/doctor.
// Layer:   core/doctor (5).
// Owns:    a descriptor of the tree file.
// Threads: one thread an object.
// Cost:    the tree is read twice: once to know that all of it is right, once leaf by leaf; memory: one block a level.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "base/units.h"
#include "merkle/geometry.h"
#include "seal/manifest.h"

namespace vouchfs::doctor {

class LeafHashes {
 public:
  // Fails: not_found, io, corrupt (a tree block that does not hash to what the manifest wants; says which).
  static Result<LeafHashes> open(const std::string& tree_file, const seal::ManifestFile& sealed);
  // The hash of a data block, the file's last one padded with zeros. Fails like open(): the tree may change under us.
  Result<hash::Digest> leaf(std::uint64_t block);

 private:
  struct Level {
    std::optional<std::uint64_t> held;  // which block of the level `bytes` is
    std::array<std::uint8_t, kBlockBytes> bytes{};
  };
  LeafHashes(const seal::ManifestFile& sealed, UniqueFd fd, std::string shown);
  // Makes sure that the level holds this block, checked.
  Status hold(std::size_t level, std::uint64_t index);
  Status check(std::size_t level, std::uint64_t index);

  merkle::Geometry geometry_;
  hash::Digest fsverity_;
  UniqueFd fd_;
  std::string shown_;
  std::vector<Level> levels_;  // leaf level first
};

}  // namespace vouchfs::doctor
