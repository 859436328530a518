#include "merkle/digest_file.h"

#include <algorithm>
#include <bit>

#include "base/aligned_buffer.h"
#include "merkle/descriptor.h"
#include "merkle/salted_tree.h"
#include "merkle/tree_builder.h"

namespace vouchfs::merkle {
namespace {

constexpr std::size_t kReadBytes = 1 << 20;
constexpr std::uint64_t kMaxBlockBytes = 1 << 20;

Status check(const Parameters& parameters) {
  const std::uint64_t digest_bytes = parameters.algorithm == Algorithm::sha512 ? 64 : 32;
  const std::uint64_t block = parameters.block_bytes;
  if (!std::has_single_bit(block) || block < 2 * digest_bytes || block > kMaxBlockBytes)
    return fail(ErrorCode::invalid_argument, std::to_string(block) + " is no block size", {},
                "give a power of two from " + std::to_string(2 * digest_bytes) + " to " + std::to_string(kMaxBlockBytes));
  if (parameters.salt.size() > kMaxSaltBytes)
    return fail(ErrorCode::invalid_argument, "a salt of " + std::to_string(parameters.salt.size()) + " bytes is too long", {},
                "give at most " + std::to_string(kMaxSaltBytes) + " bytes");
  return {};
}

bool is_seal_format(const Parameters& parameters) {
  return parameters.algorithm == Algorithm::sha256 && parameters.block_bytes == kBlockBytes && parameters.salt.empty();
}

// As many bytes as there are, up to a full buffer: the builder is fastest on whole batches.
Result<std::size_t> read_batch(const ByteReader& read, std::span<std::uint8_t> buffer) {
  std::size_t have = 0;
  while (have < buffer.size()) {
    VOUCHFS_ASSIGN(const std::size_t got, read(buffer.subspan(have)));
    if (got == 0) break;
    have += got;
  }
  return have;
}

// Gives every byte to `take` in order. Fails: changed, when there are not exactly file_bytes.
template <class Take>
Status for_each_batch(std::uint64_t file_bytes, const ByteReader& read, const Take& take) {
  AlignedBuffer buffer(kReadBytes);
  std::uint64_t seen = 0;
  for (;;) {
    VOUCHFS_ASSIGN(const std::size_t got, read_batch(read, buffer.span()));
    if (got > file_bytes - seen || (got == 0 && seen != file_bytes))
      return fail(
          ErrorCode::changed,
          "changed size while it was read: " + std::to_string(file_bytes) + " bytes were announced, " + (got == 0 ? std::to_string(seen) : "more") + " came",
          {}, "let nothing write to the file, then run this again");
    if (got == 0) return {};
    seen += got;
    VOUCHFS_TRY(take(std::span<const std::uint8_t>(buffer.data(), got)));
  }
}

std::string hex_of(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 0x0F];
  }
  return text;
}

}  // namespace

Result<std::string> digest_stream(std::uint64_t file_bytes, const Parameters& parameters, const ByteReader& read,
                                  std::shared_ptr<const hash::Sha256Engine> engine) {
  VOUCHFS_TRY(check(parameters));
  if (is_seal_format(parameters)) {
    TreeBuilder builder(file_bytes, std::move(engine), {});
    VOUCHFS_TRY(for_each_batch(file_bytes, read, [&](std::span<const std::uint8_t> bytes) { return builder.append(bytes); }));
    VOUCHFS_ASSIGN(const BuiltTree built, builder.finish());
    return hash::to_text(built.digest);
  }
  SaltedTree tree(file_bytes, parameters);
  VOUCHFS_TRY(for_each_batch(file_bytes, read, [&](std::span<const std::uint8_t> bytes) {
    tree.append(bytes);
    return Status{};
  }));
  return (parameters.algorithm == Algorithm::sha512 ? "sha512:" : "sha256:") + hex_of(tree.finish());
}

hash::Digest digest_bytes(std::span<const std::uint8_t> bytes, const hash::Sha256Engine& engine) {
  // Shares no ownership: the builder lives no longer than this call.
  const std::shared_ptr<const hash::Sha256Engine> borrowed(std::shared_ptr<const void>{}, &engine);
  TreeBuilder builder(bytes.size(), borrowed, {});
  // Neither call can fail: the size is right and there is no sink.
  (void)builder.append(bytes);
  return builder.finish().value_or(BuiltTree{}).digest;
}

}  // namespace vouchfs::merkle
