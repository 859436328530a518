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

// So many bytes at once are asked for by who reads on: a stream, or a copy.
constexpr std::size_t kInOrderBytes = 512UL << 10;

BadBlock blamed_on(const BadTreeBlock& tree) {
  BadBlock bad;
  bad.kind = BadKind::tree;
  bad.expected = tree.expected;
  bad.actual = tree.actual;
  bad.has_expected = tree.has_expected;
  bad.has_actual = tree.has_actual;
  bad.sys_errno = tree.sys_errno;
  bad.tree_level = tree.level;
  bad.tree_block = tree.block;
  bad.detail = tree.detail;
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
    : geometry_(file_bytes), fsverity_(fsverity), data_(std::move(data)), tree_(geometry_, fsverity, std::move(tree), engine, key, cache, counters),
      engine_(std::move(engine)), counters_(counters) {}

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
  const bool in_order = dst.size() >= kInOrderBytes;
  std::uint64_t block = first;
  const std::uint64_t end = first + dst.size() / kBlockBytes;
  while (block < end) {  // one leaf tree block at a time
    const std::uint64_t next = std::min(end, (block / geometry_.arity() + 1) * geometry_.arity());
    judge(block, dst.subspan((block - first) * kBlockBytes, (next - block) * kBlockBytes), in_order, unread, bad);
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

void VerifiedFile::judge(std::uint64_t first, std::span<std::uint8_t> dst, bool in_order, std::span<const BadBlock> unread, std::vector<BadBlock>& bad) const {
  const std::uint64_t count = dst.size() / kBlockBytes;
  const auto was_read = [&](std::uint64_t block) {
    return std::none_of(unread.begin(), unread.end(), [&](const BadBlock& b) { return b.block == block; });
  };
  if (geometry_.levels() == 0) {
    if (was_read(first)) judge_single_block(dst, bad);
    return;
  }
  const VerifiedTree::Found leaf = tree_.leaf(first / geometry_.arity(), in_order);
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
      wrong = blamed_on(leaf.error());
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
