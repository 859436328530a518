#include "fs/transport.h"

#include <linux/fuse.h>
#include <unistd.h>

#include <cstring>

#include "fs/passthrough.h"

namespace vouchfs::fs {

ssize_t Transport::read(int fd, void* buffer, std::size_t length) {
  const ssize_t got = ::read(fd, buffer, length);
  if (got >= static_cast<ssize_t>(sizeof(fuse_in_header))) note_request(buffer, static_cast<std::size_t>(got));
  return got;
}

void Transport::note_request(const void* buffer, std::size_t length) {
  requests_.fetch_add(1, std::memory_order_relaxed);
  fuse_in_header header;
  std::memcpy(&header, buffer, sizeof header);
  if (header.opcode != FUSE_INIT) return;
  const auto* bytes = static_cast<const std::uint8_t*>(buffer);
  init_request_.assign(bytes, bytes + length);
  init_unique_.store(header.unique, std::memory_order_release);
}

bool Transport::is_init_reply(const iovec* parts, int count) const {
  const std::uint64_t unique = init_unique_.load(std::memory_order_acquire);
  if (unique == 0 || count != 2 || parts[0].iov_len != sizeof(fuse_out_header)) return false;
  fuse_out_header header;
  std::memcpy(&header, parts[0].iov_base, sizeof header);
  return header.unique == unique && header.error == 0;
}

ssize_t Transport::write(int fd, const iovec* parts, int count) {
  if (is_init_reply(parts, count)) return write_init_reply(fd, parts, count);
  return ::writev(fd, parts, count);
}

bool Transport::passthrough_agreed() const { return passthrough_wanted_ && offers_passthrough(init_request_); }

// libfuse 3.10 to 3.16 ask for parallel directory operations but never write the flag into the reply.
ssize_t Transport::write_init_reply(int fd, const iovec* parts, int count) {
  init_unique_.store(0, std::memory_order_release);
  std::vector<std::uint8_t> body(static_cast<const std::uint8_t*>(parts[1].iov_base), static_cast<const std::uint8_t*>(parts[1].iov_base) + parts[1].iov_len);
  constexpr std::size_t flags_at = offsetof(fuse_init_out, flags);
  std::uint32_t flags = 0;
  if (body.size() < flags_at + sizeof flags) return ::writev(fd, parts, count);
  std::memcpy(&flags, body.data() + flags_at, sizeof flags);
  flags |= FUSE_PARALLEL_DIROPS;
  std::memcpy(body.data() + flags_at, &flags, sizeof flags);
  if (passthrough_agreed()) accept_passthrough(body);
  const iovec patched[2] = {parts[0], {body.data(), body.size()}};
  return ::writev(fd, patched, 2);
}

}  // namespace vouchfs::fs
