#include <algorithm>
#include <chrono>
#include <vector>

#include "base/units.h"
#include "hash/sha256.h"

namespace vouchfs::hash {
namespace {

constexpr std::size_t kProbeBlocks = 64;
constexpr int kProbeRounds = 5;

// Best time of a few rounds over 64 blocks: the least disturbed one.
std::chrono::nanoseconds probe(const Sha256Engine& engine) {
  using clock = std::chrono::steady_clock;
  const std::vector<std::uint8_t> data(kProbeBlocks * kBlockBytes, 0x5A);
  std::vector<Digest> out(kProbeBlocks);
  auto best = clock::duration::max();
  for (int round = 0; round < kProbeRounds; ++round) {
    const auto start = clock::now();
    engine.hash_many(data, kBlockBytes, out);
    best = std::min(best, clock::now() - start);
  }
  return best;
}

std::string wrong_answer(const Sha256Engine& engine) {
  return "the hash backend '" + std::string(engine.name()) + "' gave a wrong answer in its self-test; OpenSSL is used instead";
}

EngineChoice without_wish(std::shared_ptr<const Sha256Engine> fast) {
  EngineChoice choice{make_openssl_engine(), {}};
  if (!fast) return choice;
  if (!passes_self_test(*fast)) return {choice.engine, wrong_answer(*fast)};
  // Wide lanes lose on CPUs that have SHA-NI but no AVX-512, so the name alone does not decide.
  if (probe(*fast) < probe(*choice.engine)) choice.engine = std::move(fast);
  return choice;
}

EngineChoice wished_fast(std::shared_ptr<const Sha256Engine> fast) {
  EngineChoice choice{make_openssl_engine(), {}};
  if (!fast)
    choice.warning = "VOUCHFS_HASH=mb: this build or CPU has no multi-buffer SHA-256; OpenSSL is used instead";
  else if (!passes_self_test(*fast))
    choice.warning = wrong_answer(*fast);
  else
    choice.engine = std::move(fast);
  return choice;
}

}  // namespace

EngineChoice choose_engine(std::optional<std::string_view> wish) {
  const bool plain = wish && *wish == "openssl";
  return choose_engine(wish, plain ? nullptr : make_multi_buffer_engine());
}

EngineChoice choose_engine(std::optional<std::string_view> wish, std::shared_ptr<const Sha256Engine> fast) {
  if (!wish || wish->empty()) return without_wish(std::move(fast));
  if (*wish == "mb") return wished_fast(std::move(fast));
  EngineChoice choice{make_openssl_engine(), {}};
  if (*wish != "openssl") choice.warning = "VOUCHFS_HASH=" + std::string(*wish) + " is not known (openssl, mb); OpenSSL is used";
  return choice;
}

}  // namespace vouchfs::hash
