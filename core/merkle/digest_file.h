// digest_file.h: the fs-verity digest of any readable bytes, for `vouchfs digest` and for checking small synthesized files;
// with the other parameters fs-verity knows (block size, salt, SHA-512), for comparison with existing digests.
// Layer: core/merkle (2).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "hash/sha256.h"

namespace vouchfs::merkle {

enum class Algorithm { sha256, sha512 };

struct Parameters {
  Algorithm algorithm = Algorithm::sha256;
  std::uint64_t block_bytes = 4096;  // a power of two, at least twice the digest, at most 1 MiB
  std::vector<std::uint8_t> salt;    // at most 32 bytes
};

// Fills the span from the start of the file onwards, as much as there is; 0 at the end.
using ByteReader = std::function<Result<std::size_t>(std::span<std::uint8_t>)>;

// "sha256:HEX" or "sha512:HEX" of file_bytes bytes that come from read. Fails: invalid_argument (parameters),
// changed (another number of bytes came), whatever read fails with.
Result<std::string> digest_stream(std::uint64_t file_bytes, const Parameters& parameters, const ByteReader& read,
                                  std::shared_ptr<const hash::Sha256Engine> engine);
// The digest of bytes in memory, with the parameters of the seal format.
hash::Digest digest_bytes(std::span<const std::uint8_t> bytes, const hash::Sha256Engine& engine);

}  // namespace vouchfs::merkle
