// sealed_file.h: a file in memory with its tree, for tests of what is verified: its sources can be made to fail.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "base/aligned_buffer.h"
#include "merkle/tree_builder.h"
#include "support/memory_source.h"
#include "verify/verified_file.h"

namespace vouchfs::verify {

inline constexpr std::size_t kLeaf = merkle::kArity * kBlockBytes;  // bytes below one leaf tree block

// A file in memory with its tree, sources that can be made to fail, and a VerifiedFile over them.
struct Sealed {
  explicit Sealed(std::size_t size, std::uint64_t cache_bytes = 1 << 20) : cache(cache_bytes) {
    std::vector<std::uint8_t> bytes(size);
    std::mt19937_64 random(size);
    for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
      const std::uint64_t word = random();
      std::memcpy(bytes.data() + at, &word, std::min(sizeof word, size - at));
    }
    const merkle::Geometry geometry(size);
    std::vector<std::uint8_t> tree_bytes(geometry.tree_bytes());
    merkle::TreeBuilder builder(size, engine, [&](std::uint64_t block, std::span<const std::uint8_t> content) -> Status {
      std::copy(content.begin(), content.end(), tree_bytes.begin() + static_cast<std::ptrdiff_t>(block * kBlockBytes));
      return {};
    });
    EXPECT_TRUE(builder.append(bytes));
    digest = builder.finish()->digest;
    good = bytes;
    data = std::make_shared<tests::MemorySource>(std::move(bytes));
    tree = std::make_shared<tests::MemorySource>(std::move(tree_bytes));
    file = std::make_unique<VerifiedFile>(size, digest, data, tree, engine, 1, cache, counters);
  }

  std::uint64_t blocks() const { return blocks_for(good.size()); }
  RangeOutcome read(std::uint64_t first, std::uint64_t count) {
    buffer = AlignedBuffer(count * kBlockBytes);
    return file->read_blocks(first, buffer.span());
  }
  RangeOutcome read_all() { return read(0, blocks()); }
  bool block_is_right(std::uint64_t block, std::uint64_t first = 0) const {
    const std::size_t length = bytes_in_block(good.size(), block);
    return std::equal(good.begin() + static_cast<std::ptrdiff_t>(block * kBlockBytes), good.begin() + static_cast<std::ptrdiff_t>(block * kBlockBytes + length),
                      buffer.data() + (block - first) * kBlockBytes);
  }

  std::shared_ptr<const hash::Sha256Engine> engine = hash::choose_engine(std::nullopt).engine;
  observe::Counters counters;
  TreeCache cache;
  hash::Digest digest{};
  std::vector<std::uint8_t> good;
  std::shared_ptr<tests::MemorySource> data, tree;
  std::unique_ptr<VerifiedFile> file;
  AlignedBuffer buffer;
};

}  // namespace vouchfs::verify
