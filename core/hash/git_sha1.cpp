#include "hash/git_sha1.h"

#include <charconv>

#include "hash/evp.h"

namespace vouchfs::hash {
namespace {

const EVP_MD* sha1_algorithm() {
  static const EvpAlgorithm algorithm = fetch_algorithm("SHA1");
  return algorithm.get();
}

}  // namespace

std::string to_hex(const GitSha1& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t byte : digest) {
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

std::optional<GitSha1> parse_git_sha1(std::string_view text) noexcept {
  GitSha1 digest{};
  if (text.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const char* const begin = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(begin, begin + 2, digest[i], 16);
    if (error != std::errc() || end != begin + 2) return std::nullopt;
  }
  return digest;
}

struct GitSha1Stream::State {
  EvpContext context = make_evp_context();
};

GitSha1Stream::GitSha1Stream(std::uint64_t file_bytes) : state_(std::make_unique<State>()) {
  evp_start(state_->context.get(), sha1_algorithm());
  const std::string head = "blob " + std::to_string(file_bytes);
  evp_update(state_->context.get(), reinterpret_cast<const std::uint8_t*>(head.c_str()), head.size() + 1);  // with the NUL
}
GitSha1Stream::GitSha1Stream(GitSha1Stream&&) noexcept = default;
GitSha1Stream& GitSha1Stream::operator=(GitSha1Stream&&) noexcept = default;
GitSha1Stream::~GitSha1Stream() = default;

void GitSha1Stream::update(std::span<const std::uint8_t> data) { evp_update(state_->context.get(), data.data(), data.size()); }

GitSha1 GitSha1Stream::finish() {
  GitSha1 digest{};
  evp_finish(state_->context.get(), digest.data());
  return digest;
}

}  // namespace vouchfs::hash
