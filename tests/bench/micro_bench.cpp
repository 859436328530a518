// Bytes per second of the hash backends by how many blocks come at once, of one long stream, and of building a tree.
// Each case is named backend/blocks; a backend that is not to be had has no case. What is not hashing: micro_verify.cpp.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/units.h"
#include "hash/sha256.h"
#include "merkle/tree_builder.h"
#include "micro_benches.h"

namespace {

using vouchfs::kBlockBytes;
using EnginePtr = std::shared_ptr<const vouchfs::hash::Sha256Engine>;

void fill(vouchfs::AlignedBuffer& buffer) {
  std::uint64_t state = 88172645463325252ULL;
  for (std::uint8_t& byte : buffer.span()) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<std::uint8_t>(state);
  }
}

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(bytes));
}

void hash_blocks(benchmark::State& state, const EnginePtr& engine, std::size_t blocks) {
  vouchfs::AlignedBuffer data(blocks * kBlockBytes);
  fill(data);
  std::vector<vouchfs::hash::Digest> out(blocks);
  for (auto _ : state) {
    engine->hash_many(data.span(), kBlockBytes, out);
    benchmark::DoNotOptimize(out.data());
  }
  count_bytes(state, blocks * kBlockBytes);
}

void build_tree(benchmark::State& state, const EnginePtr& engine, std::size_t bytes) {
  constexpr std::size_t kPiece = 1 << 20;
  vouchfs::AlignedBuffer data(bytes);
  fill(data);
  for (auto _ : state) {
    vouchfs::merkle::TreeBuilder builder(bytes, engine, {});
    for (std::size_t at = 0; at < bytes; at += kPiece)
      if (!builder.append(data.span().subspan(at, kPiece))) state.SkipWithError("append failed");
    benchmark::DoNotOptimize(builder.finish());
  }
  count_bytes(state, bytes);
}

void hash_stream(benchmark::State& state) {
  vouchfs::AlignedBuffer data(1 << 20);
  fill(data);
  vouchfs::hash::Sha256Stream stream;
  for (auto _ : state) stream.update(data.span());
  benchmark::DoNotOptimize(stream.finish());
  count_bytes(state, data.size());
}

void register_engine(const EnginePtr& engine) {
  const std::string name(engine->name());
  for (const std::size_t blocks : {1U, 4U, 8U, 16U, 32U, 128U, 256U})
    benchmark::RegisterBenchmark(("blocks/" + name + "/" + std::to_string(blocks)).c_str(),
                                 [engine, blocks](benchmark::State& state) { hash_blocks(state, engine, blocks); });
  benchmark::RegisterBenchmark(("tree/" + name + "/16384").c_str(), [engine](benchmark::State& state) { build_tree(state, engine, 16384 * kBlockBytes); });
}

}  // namespace

int main(int argc, char** argv) {
  register_engine(vouchfs::hash::make_openssl_engine());
  if (const EnginePtr fast = vouchfs::hash::make_multi_buffer_engine()) register_engine(fast);
  benchmark::RegisterBenchmark("stream/openssl", hash_stream);
  vouchfs::bench::register_verify_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
