#include "verify/verified_file.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/aligned_buffer.h"
#include "merkle/descriptor.h"

namespace vouchfs::verify {
namespace {

using hash::Digest;
using source::Freshness;

Digest digest_at(const TreeBlock& block, std::uint64_t slot) {
  Digest digest;
  std::memcpy(digest.data(), block.data() + slot * hash::kDigestBytes, hash::kDigestBytes);
  return digest;
}

BadBlock bad_tree(std::size_t level, std::uint64_t tree_block) {
  BadBlock bad;
  bad.kind = BadKind::tree;
  bad.tree_level = static_cast<unsigned>(level);
  bad.tree_block = tree_block;
  return bad;
}

void sort_by_block(std::vector<BadBlock>& bad) {
  std::sort(bad.begin(), bad.end(), [](const BadBlock& a, const BadBlock& b) { return a.block < b.block; });
}

std::uint64_t add(std::atomic<std::uint64_t>& counter, std::uint64_t n) { return counter.fetch_add(n, std::memory_order_relaxed); }

}  // namespace

VerifiedFile::VerifiedFile(std::uint64_t file_bytes, const Digest& fsverity, std::shared_ptr<source::BlockSource> data,
                           std::shared_ptr<source::BlockSource> tree, std::shared_ptr<const hash::Sha256Engine> engine, std::uint64_t key, TreeCache& cache,
                           observe::Counters& counters)
    : geometry_(file_bytes), fsverity_(fsverity), data_(std::move(data)), tree_(std::move(tree)), engine_(std::move(engine)), key_(key), cache_(cache),
      counters_(counters) {}

bool VerifiedFile::is_root(const Digest& actual) const { return merkle::file_digest(actual, bytes()) == fsverity_; }

// --- the tree -------------------------------------------------------------------------------------------------------------

VerifiedFile::TreeResult VerifiedFile::tree_block(std::size_t level, std::uint64_t index) const {
  const std::uint64_t place = geometry_.start_of(level) + index;
  if (TreeBlockPtr known = cache_.find(key_, place)) {
    add(counters_.tree_cache_hits, 1);
    return known;
  }
  add(counters_.tree_cache_misses, 1);
  Digest expected{};
  const bool is_top = level + 1 == geometry_.levels();
  if (!is_top) {
    const TreeResult parent = tree_block(level + 1, index / geometry_.arity());
    if (!parent) return parent;
    expected = digest_at(**parent, index % geometry_.arity());
  }
  TreeResult block = fetch_tree_block(level, index, is_top ? nullptr : &expected, Freshness::usual);
  if (!block) block = fetch_tree_block(level, index, is_top ? nullptr : &expected, Freshness::past_cache);
  if (block) cache_.insert(key_, place, *block);
  return block;
}

VerifiedFile::TreeResult VerifiedFile::fetch_tree_block(std::size_t level, std::uint64_t index, const Digest* expected, Freshness freshness) const {
  const std::uint64_t place = geometry_.start_of(level) + index;
  BadBlock bad = bad_tree(level, place);
  bad.has_expected = expected != nullptr;
  if (expected != nullptr) bad.expected = *expected;
  if (!tree_) return tl::make_unexpected(bad);

  AlignedBuffer buffer(kBlockBytes);
  const auto got = tree_->read(place * kBlockBytes, buffer.span(), freshness);
  if (!got) {
    bad.sys_errno = got.error().sys_errno;
    bad.detail = "the tree cannot be read: " + got.error().describe();
    return tl::make_unexpected(bad);
  }
  if (*got < kBlockBytes) {
    bad.detail = "the tree ends at byte " + std::to_string(place * kBlockBytes + *got);
    return tl::make_unexpected(bad);
  }
  bad.actual = hash::sha256(buffer.span());
  bad.has_actual = true;
  const bool fits = expected != nullptr ? bad.actual == *expected : is_root(bad.actual);
  if (!fits) {
    bad.detail = expected != nullptr ? "the tree block does not hash to what the block above it says"
                                     : "the root tree block does not fit the file's digest and size in the manifest";
    return tl::make_unexpected(bad);
  }
  auto block = std::make_shared<TreeBlock>();
  std::memcpy(block->data(), buffer.data(), kBlockBytes);
  return TreeBlockPtr(std::move(block));
}

// --- the data -------------------------------------------------------------------------------------------------------------

RangeOutcome VerifiedFile::read_blocks(std::uint64_t first, std::span<std::uint8_t> dst, Freshness freshness) const {
  RangeOutcome outcome;
  read_and_judge(first, dst, freshness, outcome.bad);
  if (!outcome.bad.empty() && freshness == Freshness::usual) {
    // Once more, past every cache, run by run: a fault of memory or transport must not be called a fault of the medium.
    const std::vector<BadBlock> suspects = std::move(outcome.bad);
    outcome.bad.clear();
    for (std::size_t i = 0; i < suspects.size();) {
      std::size_t end = i + 1;
      while (end < suspects.size() && suspects[end].block == suspects[end - 1].block + 1) ++end;
      const std::uint64_t run = suspects[i].block;
      read_and_judge(run, dst.subspan((run - first) * kBlockBytes, (end - i) * kBlockBytes), Freshness::past_cache, outcome.bad);
      i = end;
    }
    sort_by_block(outcome.bad);
    auto still = outcome.bad.begin();
    for (const BadBlock& suspect : suspects) {
      while (still != outcome.bad.end() && still->block < suspect.block) ++still;
      const bool still_bad = still != outcome.bad.end() && still->block == suspect.block;
      if (!still_bad && suspect.kind != BadKind::tree) outcome.transient.push_back(suspect.block);
    }
  }
  for (const BadBlock& bad : outcome.bad) std::memset(dst.data() + (bad.block - first) * kBlockBytes, 0, kBlockBytes);
  add(counters_.bytes_verified, dst.size() - outcome.bad.size() * kBlockBytes);
  return outcome;
}

void VerifiedFile::read_and_judge(std::uint64_t first, std::span<std::uint8_t> dst, Freshness freshness, std::vector<BadBlock>& bad) const {
  std::vector<BadBlock> unread;
  fetch(first, dst, freshness, unread);
  std::uint64_t block = first;
  const std::uint64_t end = first + dst.size() / kBlockBytes;
  while (block < end) {  // one leaf tree block at a time
    const std::uint64_t next = std::min(end, (block / geometry_.arity() + 1) * geometry_.arity());
    judge(block, dst.subspan((block - first) * kBlockBytes, (next - block) * kBlockBytes), unread, bad);
    block = next;
  }
  bad.insert(bad.end(), std::make_move_iterator(unread.begin()), std::make_move_iterator(unread.end()));
  sort_by_block(bad);
}

void VerifiedFile::fetch(std::uint64_t first, std::span<std::uint8_t> dst, Freshness freshness, std::vector<BadBlock>& bad) const {
  const std::uint64_t count = dst.size() / kBlockBytes;
  const auto got = data_->read(first * kBlockBytes, dst, freshness);
  if (got) {
    note_short(first, count, *got, bad);
    const std::uint64_t last = first + count - 1;
    const std::size_t used = bytes_in_block(bytes(), last);  // what the source has past the sealed end does not count
    std::memset(dst.data() + (count - 1) * kBlockBytes + used, 0, kBlockBytes - used);
    return;
  }
  const bool may_be_local = got.error().code == ErrorCode::io && got.error().sys_errno == EIO;
  if (count > 1 && may_be_local) {
    const std::uint64_t half = count / 2;
    fetch(first, dst.first(half * kBlockBytes), freshness, bad);
    fetch(first + half, dst.subspan(half * kBlockBytes), freshness, bad);
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    BadBlock failed;
    failed.block = first + i;
    failed.kind = BadKind::source_error;
    failed.sys_errno = got.error().sys_errno;
    failed.detail = got.error().describe();
    bad.push_back(std::move(failed));
  }
}

void VerifiedFile::note_short(std::uint64_t first, std::uint64_t count, std::size_t got, std::vector<BadBlock>& bad) const {
  for (std::uint64_t i = got / kBlockBytes; i < count; ++i) {
    const std::size_t came = got > i * kBlockBytes ? std::min(kBlockBytes, got - i * kBlockBytes) : 0;
    if (came >= bytes_in_block(bytes(), first + i)) continue;
    BadBlock cut;
    cut.block = first + i;
    cut.kind = BadKind::truncated;
    cut.source_bytes = first * kBlockBytes + got;
    cut.detail = "the source ends at byte " + std::to_string(cut.source_bytes) + " of " + std::to_string(bytes());
    bad.push_back(std::move(cut));
  }
}

void VerifiedFile::judge(std::uint64_t first, std::span<std::uint8_t> dst, std::span<const BadBlock> unread, std::vector<BadBlock>& bad) const {
  const std::uint64_t count = dst.size() / kBlockBytes;
  const auto was_read = [&](std::uint64_t block) {
    return std::none_of(unread.begin(), unread.end(), [&](const BadBlock& b) { return b.block == block; });
  };
  if (geometry_.levels() == 0) {
    if (was_read(first)) judge_single_block(dst, bad);
    return;
  }
  const TreeResult leaf = tree_block(0, first / geometry_.arity());
  std::array<Digest, merkle::kArity> hashes;
  if (leaf) engine_->hash_many(dst, kBlockBytes, std::span(hashes).first(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    const Digest expected = leaf ? digest_at(**leaf, (first + i) % geometry_.arity()) : Digest{};
    if ((leaf && hashes[i] == expected) || !was_read(first + i)) continue;
    BadBlock wrong;
    if (leaf) {
      wrong.expected = expected;
      wrong.actual = hashes[i];
      wrong.has_expected = wrong.has_actual = true;
    } else {
      wrong = leaf.error();
    }
    wrong.block = first + i;
    bad.push_back(std::move(wrong));
  }
}

void VerifiedFile::judge_single_block(std::span<const std::uint8_t> dst, std::vector<BadBlock>& bad) const {
  const Digest digest = merkle::file_digest(hash::sha256(dst), bytes());
  if (digest == fsverity_) return;
  BadBlock wrong;
  wrong.expected = fsverity_;
  wrong.actual = digest;
  wrong.has_expected = wrong.has_actual = true;
  wrong.detail = "the file has one block: the hashes are fs-verity digests of the file";
  bad.push_back(std::move(wrong));
}

}  // namespace vouchfs::verify
