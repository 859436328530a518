#include "merkle/tree_builder.h"

#include <algorithm>
#include <array>

#include "merkle/descriptor.h"

namespace vouchfs::merkle {
namespace {

using Bytes = std::span<const std::uint8_t>;

std::string announced(std::uint64_t expected) { return "the file was announced with " + std::to_string(expected) + " bytes"; }

tl::unexpected<Error> size_changed(const std::string& what) {
  return fail(ErrorCode::changed, "changed size while it was read: " + what, {}, "let nothing write to the file, then run this again");
}

// The tree block of one level that is being filled. Unused slots stay zero: that is the padding of the format.
struct OpenBlock {
  std::array<hash::Digest, kArity> hashes{};
  std::size_t used = 0;
  std::uint64_t closed = 0;  // tree blocks of this level that are finished

  Bytes bytes() const noexcept { return {hashes.front().data(), kBlockBytes}; }
};
static_assert(sizeof(std::array<hash::Digest, kArity>) == kBlockBytes, "a tree block is its hashes, without gaps");

}  // namespace

struct TreeBuilder::State {
  State(std::uint64_t file_bytes, std::shared_ptr<const hash::Sha256Engine> with, TreeSink to)
      : geometry(file_bytes), engine(std::move(with)), sink(std::move(to)), levels(geometry.levels()) {}

  Geometry geometry;
  std::shared_ptr<const hash::Sha256Engine> engine;
  TreeSink sink;
  std::vector<OpenBlock> levels;
  std::array<std::uint8_t, kBlockBytes> partial{};  // a data block of which only the front has come
  std::size_t partial_bytes = 0;
  std::uint64_t taken = 0;  // bytes of the file so far
  hash::Digest root{};

  Status add_blocks(Bytes blocks);
  Status add_hash(std::size_t level, const hash::Digest& digest);
  Status close_block(std::size_t level);
  Status close_levels();
  std::size_t fill_partial(Bytes bytes);
};

// Hashes whole blocks from where they lie straight into the leaf level, as many at a time as its open block has room for.
Status TreeBuilder::State::add_blocks(Bytes blocks) {
  while (!blocks.empty()) {
    if (levels.empty()) {
      engine->hash_many(blocks, kBlockBytes, {&root, 1});
      return {};
    }
    OpenBlock& leaf = levels.front();
    const std::size_t count = std::min(blocks.size() / kBlockBytes, leaf.hashes.size() - leaf.used);
    engine->hash_many(blocks.first(count * kBlockBytes), kBlockBytes, std::span(leaf.hashes).subspan(leaf.used, count));
    leaf.used += count;
    blocks = blocks.subspan(count * kBlockBytes);
    if (leaf.used == leaf.hashes.size()) VOUCHFS_TRY(close_block(0));
  }
  return {};
}

Status TreeBuilder::State::add_hash(std::size_t level, const hash::Digest& digest) {
  if (level == levels.size()) {
    root = digest;
    return {};
  }
  OpenBlock& block = levels[level];
  block.hashes[block.used++] = digest;
  return block.used == block.hashes.size() ? close_block(level) : Status{};
}

// Hands the open block of a level to the sink, its hash to the level above, and starts the next one.
Status TreeBuilder::State::close_block(std::size_t level) {
  OpenBlock& block = levels[level];
  if (sink) VOUCHFS_TRY(sink(geometry.start_of(level) + block.closed, block.bytes()));
  hash::Digest digest{};
  engine->hash_many(block.bytes(), kBlockBytes, {&digest, 1});
  block.hashes.fill({});
  block.used = 0;
  ++block.closed;
  return add_hash(level + 1, digest);
}

// From the leaves up: a level's last block gets its last hash when the level below closes.
Status TreeBuilder::State::close_levels() {
  for (std::size_t level = 0; level < levels.size(); ++level)
    if (levels[level].used != 0) VOUCHFS_TRY(close_block(level));
  return {};
}

std::size_t TreeBuilder::State::fill_partial(Bytes bytes) {
  const std::size_t count = std::min(bytes.size(), kBlockBytes - partial_bytes);
  std::copy_n(bytes.begin(), count, partial.begin() + static_cast<std::ptrdiff_t>(partial_bytes));
  partial_bytes += count;
  return count;
}

TreeBuilder::TreeBuilder(std::uint64_t file_bytes, std::shared_ptr<const hash::Sha256Engine> engine, TreeSink sink)
    : state_(std::make_unique<State>(file_bytes, std::move(engine), std::move(sink))) {}
TreeBuilder::~TreeBuilder() = default;

Status TreeBuilder::append(std::span<const std::uint8_t> bytes) {
  State& s = *state_;
  const std::uint64_t expected = s.geometry.file_bytes();
  if (bytes.size() > expected - s.taken) return size_changed(announced(expected) + ", and more came");
  s.taken += bytes.size();
  if (s.partial_bytes != 0) {
    bytes = bytes.subspan(s.fill_partial(bytes));
    if (s.partial_bytes < kBlockBytes) return {};
    s.partial_bytes = 0;
    VOUCHFS_TRY(s.add_blocks(s.partial));
  }
  const std::size_t whole = bytes.size() / kBlockBytes * kBlockBytes;
  VOUCHFS_TRY(s.add_blocks(bytes.first(whole)));
  s.fill_partial(bytes.subspan(whole));
  return {};
}

Result<BuiltTree> TreeBuilder::finish() {
  State& s = *state_;
  const std::uint64_t expected = s.geometry.file_bytes();
  if (s.taken != expected) return size_changed(announced(expected) + ", and " + std::to_string(s.taken) + " came");
  if (s.partial_bytes != 0) {
    std::fill(s.partial.begin() + static_cast<std::ptrdiff_t>(s.partial_bytes), s.partial.end(), std::uint8_t{0});
    s.partial_bytes = 0;
    VOUCHFS_TRY(s.add_blocks(s.partial));
  }
  VOUCHFS_TRY(s.close_levels());
  return BuiltTree{s.root, file_digest(s.root, expected)};
}

}  // namespace vouchfs::merkle
