// sha256.h: SHA-256 behind one interface: many equal blocks at once, or one long stream.
// Layer:   core/hash (1). Uses base. OpenSSL and intel-ipsec-mb stay in the .cpp files.
// Threads: an engine is safe for concurrent calls; a stream belongs to one thread.
// Cost:    4 KiB blocks, one core: OpenSSL about 2 GB/s with SHA-NI, multi_buffer 5 GB/s and more with AVX-512 or SHA-NI.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hash/digest.h"

namespace vouchfs::hash {

class Sha256Engine {
 public:
  virtual ~Sha256Engine() = default;
  // "openssl" or "mb".
  virtual std::string_view name() const noexcept = 0;
  // Hashes out.size() messages of message_bytes each that lie one after the other in data:
  // out[i] = SHA-256(data[i * message_bytes, (i + 1) * message_bytes)). Requires data.size() == out.size() * message_bytes.
  virtual void hash_many(std::span<const std::uint8_t> data, std::size_t message_bytes, std::span<Digest> out) const = 0;
};

// One message of any length.
Digest sha256(std::span<const std::uint8_t> data);
Digest sha256(std::string_view data);

// A message that comes in pieces. finish() once, then it is spent.
class Sha256Stream {
 public:
  Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;
  ~Sha256Stream();
  void update(std::span<const std::uint8_t> data);
  Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::shared_ptr<const Sha256Engine> make_openssl_engine();
// Null where the build or the CPU does not have it. Few messages (fewer than make the lanes pay), long ones and empty ones go through OpenSSL.
std::shared_ptr<const Sha256Engine> make_multi_buffer_engine();
// Names of the backends this build holds, for `vouchfs version`: "openssl", and "mb" when intel-ipsec-mb was there.
// Whether the CPU can run them is another question: make_multi_buffer_engine() answers it.
std::vector<std::string> compiled_backends();

// True when the engine gives the right answers on built-in known messages, counts 0 to 64 among them.
bool passes_self_test(const Sha256Engine& engine);

struct EngineChoice {
  std::shared_ptr<const Sha256Engine> engine;  // never null
  std::string warning;                         // empty when the wish could be met
};
// The engine that is faster here (timed over a few blocks, about 2 ms) and passes its self-test; `wish` (the value of VOUCHFS_HASH: "openssl", "mb", or absent)
// overrides. A wish that cannot be met, an unknown wish, and a failed self-test give OpenSSL and a warning.
EngineChoice choose_engine(std::optional<std::string_view> wish);
// The same rule over given candidates, so that a test can hand in a broken fast engine (fast may be null).
EngineChoice choose_engine(std::optional<std::string_view> wish, std::shared_ptr<const Sha256Engine> fast);

}  // namespace vouchfs::hash
