// sealed_sample.h: what the micro-benchmarks and the instruction counts serve blocks of: a file in memory with its tree, and a sealed model in a folder.
// Owns:    everything it makes. Whatever fails ends the program with a message: there is nothing to measure then.
// Threads: as the classes of core that it gives.
#pragma once

#include <memory>
#include <string>

#include "base/aligned_buffer.h"
#include "hash/sha256.h"
#include "support/memory_source.h"
#include "verify/verified_file.h"
#include "view/sealed_model.h"

namespace vouchfs::bench {

[[noreturn]] void give_up(const std::string& why);

// A file of `bytes` bytes in memory, no two of its blocks equal, with its tree and a tree cache of `cache_bytes`.
struct SealedSample {
  SealedSample(std::size_t bytes, std::uint64_t cache_bytes, std::shared_ptr<const hash::Sha256Engine> engine);
  // A file whose tree nobody has looked at, over the same bytes and the same cache.
  std::unique_ptr<verify::VerifiedFile> fresh();

  std::size_t bytes;
  std::shared_ptr<const hash::Sha256Engine> engine;
  observe::Counters counters;
  verify::TreeCache cache;
  hash::Digest digest{};
  std::shared_ptr<tests::MemorySource> data, tree;
  std::uint64_t next_key = 0;
};

// Makes a model of one file of `bytes` bytes, a hole from end to end, in a folder, and seals it.
void make_model(const std::string& folder, std::uint64_t bytes, const std::shared_ptr<const hash::Sha256Engine>& engine);

// That model, opened; its file has index 0.
struct OpenSample {
  OpenSample(const std::string& folder, std::uint64_t cache_bytes, std::shared_ptr<const hash::Sha256Engine> engine);
  // Serves one request as a mount does; gives up when it fails.
  void serve(std::uint64_t offset, std::size_t length);

  std::unique_ptr<view::Runtime> runtime;
  std::unique_ptr<view::SealedModel> model;
  AlignedBuffer buffer;
};

}  // namespace vouchfs::bench
