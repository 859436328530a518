#include "merkle/salted_tree.h"

#include <algorithm>
#include <bit>

#include "hash/evp.h"
#include "merkle/descriptor.h"
#include "merkle/geometry.h"

namespace vouchfs::merkle {
namespace {

using ByteVector = std::vector<std::uint8_t>;

struct Algo {
  const char* openssl_name;
  std::size_t digest_bytes;
  std::size_t salt_unit;  // input of one compression step; a salt is padded to a multiple of it
  std::uint8_t number;
};

Algo algo_of(Algorithm algorithm) {
  return algorithm == Algorithm::sha512 ? Algo{"SHA512", 64, 128, kAlgorithmSha512} : Algo{"SHA256", 32, 64, kAlgorithmSha256};
}

ByteVector padded_salt(const ByteVector& salt, std::size_t unit) {
  ByteVector padded = salt;
  padded.resize((salt.size() + unit - 1) / unit * unit);
  return padded;
}

}  // namespace

struct SaltedTree::State {
  State(std::uint64_t file_bytes, const Parameters& with)
      : parameters(with),
        algo(algo_of(with.algorithm)),
        algorithm(hash::fetch_algorithm(algo.openssl_name)),
        prefix(padded_salt(with.salt, algo.salt_unit)),
        geometry(file_bytes, with.block_bytes, algo.digest_bytes),
        open(geometry.levels() + 1),
        root(algo.digest_bytes) {}

  Parameters parameters;
  Algo algo;
  hash::EvpAlgorithm algorithm;
  hash::EvpContext context = hash::make_evp_context();
  ByteVector prefix;
  Geometry geometry;
  std::vector<ByteVector> open;  // the block being filled: open[0] of the data, open[i + 1] of tree level i
  ByteVector root;

  ByteVector hash_of(const ByteVector& before, std::span<const std::uint8_t> message);
  void append_to(std::size_t at, std::span<const std::uint8_t> bytes);
  void close_block(std::size_t at);
};

ByteVector SaltedTree::State::hash_of(const ByteVector& before, std::span<const std::uint8_t> message) {
  ByteVector digest(algo.digest_bytes);
  hash::evp_start(context.get(), algorithm.get());
  hash::evp_update(context.get(), before.data(), before.size());
  hash::evp_update(context.get(), message.data(), message.size());
  hash::evp_finish(context.get(), digest.data());
  return digest;
}

void SaltedTree::State::append_to(std::size_t at, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    ByteVector& block = open[at];
    const std::size_t count = std::min<std::size_t>(bytes.size(), parameters.block_bytes - block.size());
    block.insert(block.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    bytes = bytes.subspan(count);
    if (block.size() == parameters.block_bytes) close_block(at);
  }
}

void SaltedTree::State::close_block(std::size_t at) {
  open[at].resize(parameters.block_bytes);
  const ByteVector digest = hash_of(prefix, open[at]);
  open[at].clear();
  if (at + 1 < open.size())
    append_to(at + 1, digest);
  else
    root = digest;
}

SaltedTree::SaltedTree(std::uint64_t file_bytes, const Parameters& parameters) : state_(std::make_unique<State>(file_bytes, parameters)) {}
SaltedTree::~SaltedTree() = default;

void SaltedTree::append(std::span<const std::uint8_t> bytes) { state_->append_to(0, bytes); }

ByteVector SaltedTree::finish() {
  State& s = *state_;
  for (std::size_t at = 0; at < s.open.size(); ++at)
    if (!s.open[at].empty()) s.close_block(at);
  Descriptor descriptor;
  descriptor.algorithm = s.algo.number;
  descriptor.log_block_bytes = static_cast<std::uint8_t>(std::countr_zero(s.parameters.block_bytes));
  descriptor.file_bytes = s.geometry.file_bytes();
  descriptor.root = s.root;
  descriptor.salt = s.parameters.salt;
  return s.hash_of({}, descriptor_bytes(descriptor));
}

}  // namespace vouchfs::merkle
