// memory_source.h: a BlockSource over bytes in memory that fails on demand: the faults a real disk or share cannot be asked for.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "base/units.h"
#include "source/block_source.h"

namespace vouchfs::tests {

class MemorySource final : public source::BlockSource {
 public:
  explicit MemorySource(std::vector<std::uint8_t> bytes_in) : bytes(std::move(bytes_in)) {}

  std::vector<std::uint8_t> bytes;
  std::map<std::uint64_t, int> failing;          // block -> errno of every read that touches it
  std::set<std::uint64_t> flipped_once_in_cache;  // blocks that are wrong unless read past the cache
  int open_error = 0;                            // every read fails with it, as if the file could not be opened
  std::atomic<int> reads{0};

  std::string name() const override { return "memory"; }

  Result<std::size_t> read(std::uint64_t offset, std::span<std::uint8_t> dst, source::Freshness freshness) override {
    ++reads;
    if (open_error != 0) return fail(errno_error(open_error, "cannot open", "memory"));
    const std::uint64_t first = offset / kBlockBytes;
    const std::uint64_t count = dst.size() / kBlockBytes;
    const auto bad = failing.lower_bound(first);
    if (bad != failing.end() && bad->first < first + count) return fail(errno_error(bad->second, "cannot read", "memory"));
    if (offset >= bytes.size()) return std::size_t{0};
    const std::size_t got = std::min<std::size_t>(dst.size(), bytes.size() - offset);
    std::memcpy(dst.data(), bytes.data() + offset, got);
    if (freshness == source::Freshness::usual)
      for (const std::uint64_t block : flipped_once_in_cache)
        if (block >= first && block < first + count) dst[(block - first) * kBlockBytes] ^= 1;
    return got;
  }

  Result<source::Stamp> stamp() override { return source::Stamp{bytes.size(), 1, 1, 1}; }
};

}  // namespace vouchfs::tests
