#include "view/node_ids.h"

#include <string>

#include "hash/sha256.h"
#include "view/node.h"

namespace vouchfs::view {

std::uint64_t wished_id(const hash::Digest& model_digest, std::string_view model_name, std::string_view path, unsigned attempt) {
  std::string message(model_digest.begin(), model_digest.end());
  message.push_back('\0');
  message.append(model_name).push_back('\0');
  message.append(path);
  if (attempt > 0) message.append(1, '\0').append(std::to_string(attempt));
  const hash::Digest digest = hash::sha256(message);
  std::uint64_t id = 0;
  for (std::size_t i = 0; i < sizeof id; ++i) id |= static_cast<std::uint64_t>(digest[i]) << (8 * i);
  return id;
}

std::uint64_t first_free_id(const std::function<std::uint64_t(unsigned attempt)>& wish, const std::function<bool(std::uint64_t)>& taken) {
  for (unsigned attempt = 0;; ++attempt) {
    const std::uint64_t id = wish(attempt);
    if (id > kRootId && !taken(id)) return id;
  }
}

}  // namespace vouchfs::view
