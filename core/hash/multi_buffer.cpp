#include "hash/sha256.h"

#ifndef VOUCHFS_HAVE_IPSEC_MB

namespace vouchfs::hash {

std::shared_ptr<const Sha256Engine> make_multi_buffer_engine() { return nullptr; }
std::vector<std::string> compiled_backends() { return {"openssl"}; }

}  // namespace vouchfs::hash

#else

#include <intel-ipsec-mb.h>

#include <mutex>

namespace vouchfs::hash {
namespace {

struct FreeManager {
  void operator()(IMB_MGR* manager) const noexcept { free_mb_mgr(manager); }
};
using Manager = std::unique_ptr<IMB_MGR, FreeManager>;

// How many messages one instruction stream works on, and from how many leftover messages on filling the lanes partly
// still beats OpenSSL: a partly filled round costs as much as a full one. Measured for AVX-512 (a round of 16 takes as
// long as 7 blocks of OpenSSL with SHA-NI); for the others estimated from the lane count.
struct Lanes {
  std::size_t count;
  std::size_t worth;
};

Lanes lanes_of(IMB_ARCH arch, std::uint64_t features) {
  if (arch >= IMB_ARCH_AVX512) return {16, 7};
  if ((features & IMB_FEATURE_SHANI) != 0) return {2, 2};
  return arch == IMB_ARCH_AVX2 ? Lanes{8, 4} : Lanes{4, 3};
}

// The library counts the length of a message in 16 bits; longer messages gain little from lanes anyway.
constexpr std::size_t kMaxMessageBytes = 32 << 10;

struct NewManager {
  Manager manager;
  IMB_ARCH arch = IMB_ARCH_NONE;
};

// Null manager when the library has no code for this CPU or fails its own power-up test.
NewManager make_manager() {
  NewManager made{Manager(alloc_mb_mgr(0)), IMB_ARCH_NONE};
  if (!made.manager) return made;
  init_mb_mgr_auto(made.manager.get(), &made.arch);
  if (made.arch == IMB_ARCH_NONE || imb_get_errno(made.manager.get()) != 0) made.manager.reset();
  return made;
}

// A manager runs jobs of one thread at a time, so each call borrows one; managers are kept for the next call.
class ManagerPool {
 public:
  explicit ManagerPool(Manager first) { free_.push_back(std::move(first)); }

  // Null when a new one is needed and cannot be had.
  Manager take() {
    {
      const std::scoped_lock lock(mutex_);
      if (!free_.empty()) {
        Manager manager = std::move(free_.back());
        free_.pop_back();
        return manager;
      }
    }
    return make_manager().manager;
  }

  void give_back(Manager manager) {
    const std::scoped_lock lock(mutex_);
    free_.push_back(std::move(manager));
  }

 private:
  std::mutex mutex_;
  std::vector<Manager> free_;  // guarded by mutex_; as many as calls ever ran at once
};

void fill(IMB_JOB& job, const std::uint8_t* message, std::size_t bytes, Digest& out) {
  job.cipher_direction = IMB_DIR_ENCRYPT;
  job.cipher_mode = IMB_CIPHER_NULL;
  job.hash_alg = IMB_AUTH_SHA_256;
  job.chain_order = IMB_ORDER_HASH_CIPHER;
  job.src = message;
  job.hash_start_src_offset_in_bytes = 0;
  job.msg_len_to_hash_in_bytes = bytes;
  job.auth_tag_output = out.data();
  job.auth_tag_output_len_in_bytes = kDigestBytes;
}

// True when every message was hashed. The digests are written where they belong; jobs that come back only tell their status.
bool run_jobs(IMB_MGR* manager, const std::uint8_t* message, std::size_t message_bytes, std::span<Digest> out) {
  std::size_t done = 0;
  const auto count = [&](const IMB_JOB* job) { done += job != nullptr && job->status == IMB_STATUS_COMPLETED ? 1U : 0U; };
  for (Digest& digest : out) {
    fill(*IMB_GET_NEXT_JOB(manager), message, message_bytes, digest);
    count(IMB_SUBMIT_JOB(manager));
    message += message_bytes;
  }
  while (const IMB_JOB* job = IMB_FLUSH_JOB(manager)) count(job);
  return done == out.size();
}

class MultiBufferEngine final : public Sha256Engine {
 public:
  MultiBufferEngine(Manager first, Lanes lanes) : lanes_(lanes), pool_(std::move(first)) {}

  std::string_view name() const noexcept override { return "mb"; }

  void hash_many(std::span<const std::uint8_t> data, std::size_t message_bytes, std::span<Digest> out) const override {
    std::size_t in_lanes = worth_lanes(message_bytes, out.size());
    if (in_lanes != 0 && !hash_in_lanes(data.data(), message_bytes, out.first(in_lanes))) in_lanes = 0;
    plain_->hash_many(data.subspan(in_lanes * message_bytes), message_bytes, out.subspan(in_lanes));
  }

 private:
  // How many of these messages, counted from the front, go through the lanes.
  std::size_t worth_lanes(std::size_t message_bytes, std::size_t messages) const noexcept {
    if (message_bytes == 0 || message_bytes > kMaxMessageBytes) return 0;
    const std::size_t rest = messages % lanes_.count;
    return rest >= lanes_.worth ? messages : messages - rest;
  }

  bool hash_in_lanes(const std::uint8_t* messages, std::size_t message_bytes, std::span<Digest> out) const {
    Manager manager = pool_.take();
    if (!manager) return false;
    const bool ok = run_jobs(manager.get(), messages, message_bytes, out);
    // A manager that failed is not trusted with another job.
    if (ok) pool_.give_back(std::move(manager));
    return ok;
  }

  const Lanes lanes_;
  const std::shared_ptr<const Sha256Engine> plain_ = make_openssl_engine();
  mutable ManagerPool pool_;
};

}  // namespace

std::shared_ptr<const Sha256Engine> make_multi_buffer_engine() {
  NewManager made = make_manager();
  if (!made.manager) return nullptr;
  const Lanes lanes = lanes_of(made.arch, made.manager->features);
  return std::make_shared<MultiBufferEngine>(std::move(made.manager), lanes);
}

std::vector<std::string> compiled_backends() { return {"openssl", "mb"}; }

}  // namespace vouchfs::hash

#endif
