// block_source.h: where bytes come from. Whatever a source returns is untrusted until it hashes right.
// Layer:   core/source (2). Uses base.
// Threads: every method is safe for concurrent calls; no lock is held while bytes are fetched.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace vouchfs::source {

enum class Freshness {
  usual,       // whatever way is fastest
  past_cache,  // from the medium, not from the machine's page cache; reopens what was opened before
};

// What tells whether a file has been touched. Never used to trust bytes, only to forget a known-bad block early.
struct Stamp {
  std::uint64_t bytes = 0;
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  std::int64_t ctime_ns = 0;
  bool operator==(const Stamp&) const = default;
};

class BlockSource {
 public:
  virtual ~BlockSource() = default;
  // For events: "model", "replica:/mnt/copy".
  virtual std::string name() const = 0;
  // Reads dst.size() bytes at offset into dst. offset and dst are multiples of kBlockBytes, dst is aligned to it.
  // Returns the bytes read: fewer only where the source ends. Fails: io, not_found.
  virtual Result<std::size_t> read(std::uint64_t offset, std::span<std::uint8_t> dst, Freshness freshness) = 0;
  // One metadata look at what lies there now. Fails: io, not_found.
  virtual Result<Stamp> stamp() = 0;
  // The file that the bytes lie in, for reading, where they lie in one. What is read from it is unverified. Fails: unsupported, io, not_found.
  virtual Result<UniqueFd> open_file() { return fail(ErrorCode::unsupported, "is no file of this machine", name()); }
};

}  // namespace vouchfs::source
