// evp.h: OpenSSL's digest objects with owners. Internal: for .cpp files of core/hash and core/merkle, never for a header.
// Layer:   core/hash (1).
// Threads: a context belongs to one thread; a fetched algorithm may be shared.
// Errors:  std::bad_alloc when OpenSSL lacks the algorithm or has no memory: there is nothing a caller could do but stop.
#pragma once

#include <openssl/evp.h>

#include <memory>

#include "hash/digest.h"

namespace vouchfs::hash {

struct FreeEvp {
  void operator()(EVP_MD* algorithm) const noexcept { EVP_MD_free(algorithm); }
  void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
};
using EvpAlgorithm = std::unique_ptr<EVP_MD, FreeEvp>;
using EvpContext = std::unique_ptr<EVP_MD_CTX, FreeEvp>;

// By OpenSSL's name: "SHA256", "SHA512".
EvpAlgorithm fetch_algorithm(const char* name);
// SHA-256, looked up once a process: a fetch costs more than hashing a block.
const EVP_MD* sha256_algorithm();
EvpContext make_evp_context();
void evp_start(EVP_MD_CTX* context, const EVP_MD* algorithm);
void evp_update(EVP_MD_CTX* context, const std::uint8_t* data, std::size_t bytes);
// Requires room for a digest of the algorithm at out.
void evp_finish(EVP_MD_CTX* context, std::uint8_t* out);

}  // namespace vouchfs::hash
