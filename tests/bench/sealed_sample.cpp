#include "sealed_sample.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "ingest/ingest.h"
#include "merkle/tree_builder.h"

namespace vouchfs::bench {
namespace {

std::vector<std::uint8_t> noise(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  std::uint64_t state = 88172645463325252ULL;
  for (std::size_t at = 0; at + sizeof state <= size; at += sizeof state) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    std::memcpy(bytes.data() + at, &state, sizeof state);
  }
  return bytes;
}

}  // namespace

void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

SealedSample::SealedSample(std::size_t bytes_in, std::uint64_t cache_bytes, std::shared_ptr<const hash::Sha256Engine> engine_in)
    : bytes(bytes_in), engine(std::move(engine_in)), cache(cache_bytes) {
  std::vector<std::uint8_t> content = noise(bytes);
  std::vector<std::uint8_t> hashes(merkle::Geometry(bytes).tree_bytes());
  merkle::TreeBuilder builder(bytes, engine, [&](std::uint64_t block, std::span<const std::uint8_t> made) -> Status {
    std::copy(made.begin(), made.end(), hashes.begin() + static_cast<std::ptrdiff_t>(block * kBlockBytes));
    return {};
  });
  if (!builder.append(content)) give_up("the tree of the sample cannot be built");
  digest = builder.finish()->digest;
  data = std::make_shared<tests::MemorySource>(std::move(content));
  tree = std::make_shared<tests::MemorySource>(std::move(hashes));
}

std::unique_ptr<verify::VerifiedFile> SealedSample::fresh() {
  return std::make_unique<verify::VerifiedFile>(bytes, digest, data, tree, engine, next_key++, cache, counters);
}

void make_model(const std::string& folder, std::uint64_t bytes, const std::shared_ptr<const hash::Sha256Engine>& engine) {
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/weights.bin";
  std::ofstream(path, std::ios::binary).flush();
  std::filesystem::resize_file(path, bytes);
  ingest::IngestOptions options;
  options.model_dir = folder;
  ingest::IngestProgress progress;
  const auto done = ingest::ingest(options, engine, progress, CancelFlag());
  if (!done) give_up(done.error().message);
}

OpenSample::OpenSample(const std::string& folder, std::uint64_t cache_bytes, std::shared_ptr<const hash::Sha256Engine> engine)
    : runtime(std::make_unique<view::Runtime>(std::move(engine), cache_bytes)) {
  view::ModelOptions options;
  options.model_dir = folder;
  auto opened = view::SealedModel::open(std::move(options), *runtime);
  if (!opened) give_up(opened.error().message);
  model = std::move(*opened);
}

void OpenSample::serve(std::uint64_t offset, std::size_t length) {
  const auto parts = model->serve(0, offset, length, buffer, view::Caller{1, 0});
  if (!parts) give_up(parts.error().message);
}

}  // namespace vouchfs::bench
