#include "hash/sha256.h"

#include <new>

#include "hash/evp.h"

namespace vouchfs::hash {
namespace {

void require(int ok) {
  if (ok != 1) throw std::bad_alloc();
}

}  // namespace

EvpAlgorithm fetch_algorithm(const char* name) {
  EvpAlgorithm algorithm(EVP_MD_fetch(nullptr, name, nullptr));
  if (!algorithm) throw std::bad_alloc();
  return algorithm;
}

const EVP_MD* sha256_algorithm() {
  static const EvpAlgorithm algorithm = fetch_algorithm("SHA256");
  return algorithm.get();
}

EvpContext make_evp_context() {
  EvpContext context(EVP_MD_CTX_new());
  if (!context) throw std::bad_alloc();
  return context;
}

void evp_start(EVP_MD_CTX* context, const EVP_MD* algorithm) { require(EVP_DigestInit_ex2(context, algorithm, nullptr)); }

void evp_update(EVP_MD_CTX* context, const std::uint8_t* data, std::size_t bytes) { require(EVP_DigestUpdate(context, data, bytes)); }

void evp_finish(EVP_MD_CTX* context, std::uint8_t* out) { require(EVP_DigestFinal_ex(context, out, nullptr)); }

struct Sha256Stream::State {
  EvpContext context = make_evp_context();
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) { evp_start(state_->context.get(), sha256_algorithm()); }
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;
Sha256Stream::~Sha256Stream() = default;

void Sha256Stream::update(std::span<const std::uint8_t> data) { evp_update(state_->context.get(), data.data(), data.size()); }

Digest Sha256Stream::finish() {
  Digest digest{};
  evp_finish(state_->context.get(), digest.data());
  return digest;
}

Digest sha256(std::span<const std::uint8_t> data) {
  Sha256Stream stream;
  stream.update(data);
  return stream.finish();
}

Digest sha256(std::string_view data) { return sha256({reinterpret_cast<const std::uint8_t*>(data.data()), data.size()}); }

}  // namespace vouchfs::hash
