// serve_blocks.cpp: serves blocks through the request path, for instructions.py to count what that takes.
//
//   serve_blocks prepare DIR   makes and seals the model that the passes serve
//   serve_blocks PASS DIR      one pass; prints how many blocks it served. What counts are the instructions within measured_pass().
//
// The places are the same in every run, far apart, so that no stream is recognized and no thread starts: the counts repeat to the last digit.
// Hashing is OpenSSL's: valgrind knows neither AVX-512 nor SHA-NI, without which the multi-buffer backend does not start.
#include <cstdio>
#include <functional>
#include <map>

#include "sealed_sample.h"

namespace {

using namespace vouchfs;

constexpr std::uint64_t kFileBytes = 64ULL << 20;
constexpr std::uint64_t kBlocks = kFileBytes / kBlockBytes;
constexpr std::uint64_t kLeafBlocks = 128;  // data blocks below one leaf tree block
constexpr std::uint64_t kLeaves = kBlocks / kLeafBlocks;
constexpr std::uint64_t kStride = 37;  // leaves from one place to the next: no divisor in common with kLeaves
constexpr std::uint64_t kWholeTree = 8ULL << 20;
constexpr std::uint64_t kWarmPlaces = 256;
constexpr std::uint64_t kWidePlaces = 16;
constexpr std::size_t kWideBytes = 128 << 10;
constexpr std::uint64_t kColdPlaces = 12;  // fewer than VerifiedTree::kLoneMisses: each leaf is read alone

using Serve = std::function<void(std::uint64_t block)>;

std::uint64_t place(std::uint64_t turn) { return turn * kStride % kLeaves * kLeafBlocks + turn * 5 % 32; }

}  // namespace

// Outside of the unnamed namespace and never inlined: callgrind finds it by its name.
extern "C" __attribute__((noinline)) void measured_pass(const Serve& serve, std::uint64_t places) {
  for (std::uint64_t turn = 0; turn < places; ++turn) serve(place(turn));
}

namespace {

std::uint64_t serve_warm(const std::string& folder) {
  bench::OpenSample sample(folder, kWholeTree, hash::make_openssl_engine());
  for (std::uint64_t leaf = 0; leaf < kLeaves; ++leaf) sample.serve(leaf * kLeafBlocks * kBlockBytes, kBlockBytes);
  measured_pass([&](std::uint64_t block) { sample.serve(block * kBlockBytes, kBlockBytes); }, kWarmPlaces);
  return kWarmPlaces;
}

std::uint64_t serve_wide(const std::string& folder) {
  bench::OpenSample sample(folder, kWholeTree, hash::make_openssl_engine());
  for (std::uint64_t leaf = 0; leaf < kLeaves; ++leaf) sample.serve(leaf * kLeafBlocks * kBlockBytes, kBlockBytes);
  measured_pass([&](std::uint64_t block) { sample.serve(block * kBlockBytes, kWideBytes); }, kWidePlaces);
  return kWidePlaces * (kWideBytes / kBlockBytes);
}

std::uint64_t serve_cold(const std::string& folder) {
  bench::OpenSample sample(folder, kWholeTree, hash::make_openssl_engine());
  sample.serve((kLeaves - 1) * kLeafBlocks * kBlockBytes, kBlockBytes);  // opens the files; the root is known from then on, and this one leaf
  measured_pass([&](std::uint64_t block) { sample.serve(block * kBlockBytes, kBlockBytes); }, kColdPlaces);
  return kColdPlaces;
}

std::uint64_t verify_warm(const std::string&) {
  bench::SealedSample sample(kLeaves / 16 * kLeafBlocks * kBlockBytes, kWholeTree, hash::make_openssl_engine());
  const auto file = sample.fresh();
  AlignedBuffer buffer(kBlockBytes);
  const auto read = [&](std::uint64_t block) {
    if (!file->read_blocks(block % (sample.bytes / kBlockBytes), buffer.span()).all_good()) bench::give_up("the sample is damaged");
  };
  for (std::uint64_t block = 0; block < sample.bytes / kBlockBytes; block += kLeafBlocks) read(block);
  measured_pass(read, kWarmPlaces);
  return kWarmPlaces;
}

const std::map<std::string, std::function<std::uint64_t(const std::string&)>> kPasses = {
    {"serve-4k-warm", serve_warm}, {"serve-128k-warm", serve_wide}, {"serve-4k-cold", serve_cold}, {"verify-4k-warm", verify_warm}};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) bench::give_up("usage: serve_blocks prepare|PASS DIR");
  const std::string what = argv[1];
  if (what == "prepare") {
    bench::make_model(argv[2], kFileBytes, hash::choose_engine(std::nullopt).engine);
    return 0;
  }
  const auto pass = kPasses.find(what);
  if (pass == kPasses.end()) bench::give_up("there is no pass " + what);
  std::printf("%llu\n", static_cast<unsigned long long>(pass->second(argv[2])));
  return 0;
}
