// micro_verify.cpp: what verifying and serving cost besides hashing: the climb in the tree, the request path, the tree cache under threads, the stream table.
// Each works in memory. Rates are bytes served where bytes are served, else operations.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <random>

#include "micro_benches.h"
#include "sealed_sample.h"
#include "verify/stream_table.h"

namespace vouchfs::bench {
namespace {

constexpr std::size_t kSampleBytes = 128 << 20;
constexpr std::uint64_t kLeafBytes = merkle::kArity * kBlockBytes;
constexpr std::uint64_t kRoomForAll = 16ULL << 20;

std::shared_ptr<const hash::Sha256Engine> engine() {
  static const auto chosen = hash::choose_engine(std::nullopt).engine;
  return chosen;
}

// ---- the climb -------------------------------------------------------------------------------------------------------------------

// A leaf that is in the cache: what every warm block pays.
void climb_known(benchmark::State& state) {
  SealedSample sample(kSampleBytes, kRoomForAll, engine());
  const merkle::Geometry geometry(sample.bytes);
  const verify::VerifiedTree tree(geometry, sample.digest, sample.tree, sample.engine, 0, sample.cache, sample.counters);
  const std::uint64_t leaves = geometry.blocks_at(0);
  for (std::uint64_t leaf = 0; leaf < leaves; ++leaf)
    if (!tree.leaf(leaf, true)) give_up("the sample's tree is damaged");
  std::uint64_t turn = 0;
  for (auto _ : state) benchmark::DoNotOptimize(tree.leaf(turn++ % leaves, false));
  state.SetItemsProcessed(state.iterations());
}

// A leaf of a file of which no tree block is known: every level is read and hashed, the root against the digest.
void climb_whole(benchmark::State& state) {
  SealedSample sample(kSampleBytes, kRoomForAll, engine());
  const merkle::Geometry geometry(sample.bytes);
  std::uint64_t turn = 0;
  for (auto _ : state) {
    const verify::VerifiedTree tree(geometry, sample.digest, sample.tree, sample.engine, turn, sample.cache, sample.counters);
    if (!tree.leaf(turn++ % geometry.blocks_at(0), false)) state.SkipWithError("the sample's tree is damaged");
  }
  state.SetItemsProcessed(state.iterations());
}

// ---- the request path -------------------------------------------------------------------------------------------------------------

// A sealed model in memory, for as long as a benchmark runs.
class ModelInMemory {
 public:
  ModelInMemory() {
    const auto parent = std::filesystem::exists("/dev/shm") ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
    std::string name = (parent / "vouchfs-micro-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) give_up("no folder can be made in " + parent.string());
    folder_ = name;
    make_model(folder_, kSampleBytes, engine());
  }
  ~ModelInMemory() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ModelInMemory(const ModelInMemory&) = delete;
  ModelInMemory& operator=(const ModelInMemory&) = delete;
  const std::string& folder() const noexcept { return folder_; }

 private:
  std::string folder_;
};

// Requests at places far apart, so that nothing is read ahead; the tree is known.
void serve(benchmark::State& state, std::size_t length) {
  const ModelInMemory model;
  OpenSample sample(model.folder(), kRoomForAll, engine());
  const std::uint64_t leaves = kSampleBytes / kLeafBytes;
  for (std::uint64_t leaf = 0; leaf < leaves; ++leaf) sample.serve(leaf * kLeafBytes, kBlockBytes);
  std::uint64_t turn = 0;
  for (auto _ : state) sample.serve(turn++ * 37 % (leaves - 2) * kLeafBytes, length);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(length));
}

// ---- shared bookkeeping -----------------------------------------------------------------------------------------------------------

// Threads that find blocks of one cache, each at places of its own.
void find_in_cache(benchmark::State& state) {
  constexpr std::uint64_t kBlocks = 1024;
  static verify::TreeCache cache(kBlocks * kBlockBytes);
  if (state.thread_index() == 0)
    for (std::uint64_t block = 0; block < kBlocks; ++block) cache.insert(0, block, std::make_shared<verify::TreeBlock>());
  std::uint64_t turn = static_cast<std::uint64_t>(state.thread_index()) * 97;
  for (auto _ : state) benchmark::DoNotOptimize(cache.find(0, turn++ * 37 % kBlocks));
  state.SetItemsProcessed(state.iterations());
}

// One reader in order, as many as the table remembers, or requests at random places.
void observe_streams(benchmark::State& state, std::uint64_t streams) {
  constexpr std::uint64_t kFile = 1ULL << 40;
  constexpr std::uint64_t kRequest = 128 << 10;
  verify::StreamTable table(kFile, {});
  std::mt19937_64 random(1);
  std::uint64_t turn = 0;
  for (auto _ : state) {
    const std::uint64_t begin =
        streams == 0 ? random() % (kFile / kRequest) * kRequest : turn % streams * (kFile / streams) + turn / streams * kRequest % (kFile / streams);
    ++turn;
    benchmark::DoNotOptimize(table.observe({begin, begin + kRequest}));
  }
  state.SetItemsProcessed(state.iterations());
}

}  // namespace

void register_verify_benchmarks() {
  benchmark::RegisterBenchmark("climb/known", climb_known);
  benchmark::RegisterBenchmark("climb/whole", climb_whole);
  benchmark::RegisterBenchmark("serve/4KiB", [](benchmark::State& state) { serve(state, 4 << 10); });
  benchmark::RegisterBenchmark("serve/128KiB", [](benchmark::State& state) { serve(state, 128 << 10); });
  benchmark::RegisterBenchmark("serve/1MiB", [](benchmark::State& state) { serve(state, 1 << 20); });
  benchmark::RegisterBenchmark("cache/find", find_in_cache)->ThreadRange(1, 8)->UseRealTime();
  benchmark::RegisterBenchmark("streams/one", [](benchmark::State& state) { observe_streams(state, 1); });
  benchmark::RegisterBenchmark("streams/32", [](benchmark::State& state) { observe_streams(state, verify::StreamTable::kMost); });
  benchmark::RegisterBenchmark("streams/random", [](benchmark::State& state) { observe_streams(state, 0); });
}

}  // namespace vouchfs::bench
