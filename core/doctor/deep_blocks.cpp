// Blocks against the seal. Where the tree is good, the places are exact; where it is not, the SHA-256 of the manifest judges the file as a whole.
#include <algorithm>
#include <cstring>

#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/deep_watch.h"
#include "doctor/leaf_hashes.h"
#include "merkle/descriptor.h"
#include "merkle/digest_file.h"

namespace vouchfs::doctor {
namespace {

constexpr std::size_t kMaxRuns = 64;  // places kept of one file; the last one then reaches to the last bad block

std::string run_text(std::uint64_t first, std::uint64_t last, const ByteRange& range) {
  const std::string bytes = " (bytes " + std::to_string(range.offset) + " to " + std::to_string(range.offset + range.length - 1) + ")";
  if (first == last) return "block " + std::to_string(first) + bytes + " differs from the seal";
  return "blocks " + std::to_string(first) + " to " + std::to_string(last) + bytes + " differ from the seal";
}

}  // namespace

struct BlockWatch::State {
  const FileFacts& file;
  const seal::ManifestFile& sealed;
  std::shared_ptr<const hash::Sha256Engine> engine;
  std::optional<LeafHashes> leaves;
  std::optional<hash::Sha256Stream> whole;  // when there is no good tree
  std::string trouble;
  struct Run {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };
  std::vector<Run> runs;
  std::vector<hash::Digest> hashes;

  void add_bad(std::uint64_t block) {
    if (!runs.empty() && (runs.back().last + 1 == block || runs.size() == kMaxRuns))
      runs.back().last = block;
    else
      runs.push_back({block, block});
  }
  void lose_tree(const Error& error) {
    trouble = error.describe();
    leaves.reset();
  }
  void compare(std::uint64_t block, const hash::Digest& actual) {
    if (!leaves) return;
    const auto expected = leaves->leaf(block);
    if (!expected) return lose_tree(expected.error());
    if (actual != *expected) add_bad(block);
  }
  void take_blocks(std::uint64_t first, std::span<const std::uint8_t> bytes) {
    hashes.resize(bytes.size() / kBlockBytes);
    engine->hash_many(bytes, kBlockBytes, hashes);
    for (std::size_t i = 0; i < hashes.size(); ++i) compare(first + i, hashes[i]);
  }
  // The last block of the file, short of a whole one.
  void take_tail(std::uint64_t block, std::span<const std::uint8_t> bytes) {
    std::array<std::uint8_t, kBlockBytes> padded{};
    std::memcpy(padded.data(), bytes.data(), bytes.size());
    take_blocks(block, padded);
  }
};

BlockWatch::BlockWatch(const ModelFacts& model, const FileFacts& file, const seal::ManifestFile& sealed, std::shared_ptr<const hash::Sha256Engine> engine)
    : state_(std::make_unique<State>(State{file, sealed, std::move(engine), {}, {}, {}, {}, {}})) {
  if (sealed.bytes <= kBlockBytes) {
    state_->whole.emplace();
    return;
  }
  auto leaves = LeafHashes::open(model.seal_dir + "/" + seal::tree_path(sealed.fsverity), sealed);
  if (leaves) {
    state_->leaves.emplace(*std::move(leaves));
  } else {
    state_->trouble = leaves.error().describe();
    state_->whole.emplace();
  }
}
BlockWatch::~BlockWatch() = default;

// A file of another size than sealed is judged as far as whole blocks of both go; that it is cut is said elsewhere.
void BlockWatch::take(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
  State& state = *state_;
  if (state.whole) state.whole->update(bytes);
  if (!state.leaves || offset >= state.sealed.bytes) return;
  bytes = bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), state.sealed.bytes - offset)));
  const std::size_t whole = bytes.size() / kBlockBytes * kBlockBytes;
  if (whole != 0) state.take_blocks(offset / kBlockBytes, bytes.first(whole));
  const bool sealed_end = offset + bytes.size() == state.sealed.bytes;
  if (whole < bytes.size() && sealed_end) state.take_tail((offset + whole) / kBlockBytes, bytes.subspan(whole));
}

std::vector<BadPlace> BlockWatch::finish() {
  State& state = *state_;
  std::vector<BadPlace> places;
  const auto add = [&](ByteRange range, std::string text) {
    BadPlace place{range, std::move(text), {}};
    if (const auto* tensors = state.file.tensors()) place.tensors = tensors_within(*tensors, range.offset, range.offset + range.length);
    places.push_back(std::move(place));
  };
  for (const State::Run& run : state.runs) {
    const std::uint64_t offset = run.first * kBlockBytes;
    const ByteRange range{offset, std::min((run.last + 1) * kBlockBytes, state.sealed.bytes) - offset};
    add(range, run_text(run.first, run.last, range));
  }
  if (!state.whole || state.file.bytes != state.sealed.bytes) return places;
  const std::string got = hash::to_hex(state.whole->finish());
  const std::string want = hash::to_hex(state.sealed.sha256);
  if (got == want) return places;
  const std::string text = "the SHA-256 is " + got + ", sealed was " + want;
  if (state.sealed.bytes <= kBlockBytes)
    add({0, state.sealed.bytes}, "block 0 (the whole file) differs from the seal: " + text);
  else
    add({0, state.sealed.bytes}, "the file differs from the seal: " + text + "; which blocks cannot be told, because its tree is no good");
  return places;
}

const std::string& BlockWatch::trouble() const noexcept { return state_->trouble; }

}  // namespace vouchfs::doctor
