#include "verify/verified_tree.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "merkle/descriptor.h"

namespace vouchfs::verify {
namespace {

using hash::Digest;
using source::Freshness;

template <std::size_t Blocks>
struct alignas(kBlockBytes) AlignedBlocks {  // on the stack: O_DIRECT wants it aligned, and nobody else may see it
  std::array<std::uint8_t, Blocks * kBlockBytes> bytes;
};

TreeBlockPtr kept(std::span<const std::uint8_t> bytes) {
  auto block = std::make_shared<TreeBlock>();
  std::memcpy(block->data(), bytes.data(), kBlockBytes);
  return block;
}

}  // namespace

Digest digest_at(const TreeBlock& block, std::uint64_t slot) {
  Digest digest;
  std::memcpy(digest.data(), block.data() + slot * hash::kDigestBytes, hash::kDigestBytes);
  return digest;
}

VerifiedTree::VerifiedTree(const merkle::Geometry& geometry, const Digest& fsverity, std::shared_ptr<source::BlockSource> source,
                           std::shared_ptr<const hash::Sha256Engine> engine, std::uint64_t key, TreeCache& cache, observe::Counters& counters)
    : geometry_(geometry), fsverity_(fsverity), source_(std::move(source)), engine_(std::move(engine)), key_(key), cache_(cache), counters_(counters) {}

VerifiedTree::Found VerifiedTree::leaf(std::uint64_t index, bool in_order) const { return block(0, index, in_order); }

VerifiedTree::Found VerifiedTree::block(std::size_t level, std::uint64_t index, bool in_order) const {
  const std::uint64_t place = geometry_.start_of(level) + index;
  if (TreeBlockPtr known = cache_.find(key_, place)) {
    counters_.tree_cache_hits.fetch_add(1, std::memory_order_relaxed);
    return known;
  }
  counters_.tree_cache_misses.fetch_add(1, std::memory_order_relaxed);
  Digest expected{};
  const bool is_top = level + 1 == geometry_.levels();
  if (!is_top) {
    const Found parent = block(level + 1, index / geometry_.arity(), in_order);
    if (!parent) return parent;
    if (level == 0 && run_pays(in_order))
      if (TreeBlockPtr right = fetch_run(index, **parent)) return right;
    expected = digest_at(**parent, index % geometry_.arity());
  }
  Found found = fetch(level, index, is_top ? nullptr : &expected, Freshness::usual);
  if (!found) found = fetch(level, index, is_top ? nullptr : &expected, Freshness::past_cache);
  if (found) cache_.insert(key_, place, *found);
  return found;
}

// A lone random read costs one small read a level. Only who keeps coming gets runs, and only where the cache will hold them.
bool VerifiedTree::run_pays(bool in_order) const {
  if (!source_) return false;
  if (in_order) return true;
  return lone_misses_.fetch_add(1, std::memory_order_relaxed) >= kLoneMisses && geometry_.tree_blocks() <= cache_.capacity();
}

TreeBlockPtr VerifiedTree::fetch_run(std::uint64_t index, const TreeBlock& parent) const {
  const std::uint64_t first = index / kRunBlocks * kRunBlocks;
  const std::uint64_t count = std::min(kRunBlocks, geometry_.blocks_at(0) - first);
  AlignedBlocks<kRunBlocks> run;
  const std::span bytes = std::span(run.bytes).first(count * kBlockBytes);
  const auto got = source_->read((geometry_.start_of(0) + first) * kBlockBytes, bytes, Freshness::usual);
  const std::uint64_t whole = got ? *got / kBlockBytes : 0;
  std::array<Digest, kRunBlocks> hashes;
  engine_->hash_many(bytes.first(whole * kBlockBytes), kBlockBytes, std::span(hashes).first(whole));
  TreeBlockPtr wanted;
  for (std::uint64_t i = 0; i < whole; ++i) {
    if (hashes[i] != digest_at(parent, (first + i) % geometry_.arity())) continue;
    TreeBlockPtr right = kept(bytes.subspan(i * kBlockBytes, kBlockBytes));
    if (first + i == index) wanted = right;
    cache_.insert(key_, geometry_.start_of(0) + first + i, std::move(right));
  }
  return wanted;
}

VerifiedTree::Found VerifiedTree::fetch(std::size_t level, std::uint64_t index, const Digest* expected, Freshness freshness) const {
  BadTreeBlock bad;
  bad.level = static_cast<unsigned>(level);
  bad.block = geometry_.start_of(level) + index;
  bad.has_expected = expected != nullptr;
  if (expected != nullptr) bad.expected = *expected;
  if (!source_) return tl::make_unexpected(bad);

  AlignedBlocks<1> block;
  const auto got = source_->read(bad.block * kBlockBytes, block.bytes, freshness);
  if (!got) {
    bad.sys_errno = got.error().sys_errno;
    bad.detail = "the tree cannot be read: " + got.error().describe();
    return tl::make_unexpected(bad);
  }
  if (*got < kBlockBytes) {
    bad.detail = "the tree ends at byte " + std::to_string(bad.block * kBlockBytes + *got);
    return tl::make_unexpected(bad);
  }
  bad.actual = hash::sha256(std::span<const std::uint8_t>(block.bytes));
  bad.has_actual = true;
  const bool fits = expected != nullptr ? bad.actual == *expected : merkle::file_digest(bad.actual, geometry_.file_bytes()) == fsverity_;
  if (fits) return kept(block.bytes);
  bad.detail = expected != nullptr ? "the tree block does not hash to what the block above it says"
                                   : "the root tree block does not fit the file's digest and size in the manifest";
  return tl::make_unexpected(bad);
}

}  // namespace vouchfs::verify
