#include "fs/passthrough.h"

#include <linux/fuse.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "fs/sealed_memory.h"

namespace vouchfs::fs {
namespace {

constexpr std::uint32_t kInitExt = 1U << 30;              // FUSE_INIT_EXT: flags2 counts
constexpr std::uint32_t kPassthrough2 = 1U << (37 - 32);  // FUSE_PASSTHROUGH, bit 37 of both words
constexpr std::uint32_t kStackDepth = 1;                  // what lies below is no stacked file system itself
constexpr std::uint32_t kOpenPassthrough = 1U << 7;       // FOPEN_PASSTHROUGH
constexpr std::uint32_t kOpenNoFlush = 1U << 5;           // FOPEN_NOFLUSH

struct InitIn {  // struct fuse_init_in
  std::uint32_t major, minor, max_readahead, flags, flags2;
};
// The end of struct fuse_init_out that newer protocols gave a meaning.
constexpr std::size_t kFlagsAt = 12, kFlags2At = 32, kStackDepthAt = 36;

struct BackingMap {  // struct fuse_backing_map
  std::int32_t fd;
  std::uint32_t flags;
  std::uint64_t padding;
};
constexpr unsigned long kBackingOpen = _IOW(229, 1, BackingMap);      // FUSE_DEV_IOC_BACKING_OPEN
constexpr unsigned long kBackingClose = _IOW(229, 2, std::uint32_t);  // FUSE_DEV_IOC_BACKING_CLOSE

std::uint32_t word_at(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

void set_word(std::vector<std::uint8_t>& bytes, std::size_t at, std::uint32_t word) { std::memcpy(bytes.data() + at, &word, sizeof word); }

}  // namespace

bool offers_passthrough(const std::vector<std::uint8_t>& init_request) {
  InitIn in{};
  if (init_request.size() < sizeof(fuse_in_header) + sizeof in) return false;  // a kernel from before flags2
  std::memcpy(&in, init_request.data() + sizeof(fuse_in_header), sizeof in);
  return (in.flags & kInitExt) != 0 && (in.flags2 & kPassthrough2) != 0;
}

void accept_passthrough(std::vector<std::uint8_t>& init_reply) {
  static_assert(kFlagsAt == offsetof(fuse_init_out, flags));
  if (init_reply.size() < kStackDepthAt + sizeof(std::uint32_t)) return;
  set_word(init_reply, kFlagsAt, word_at(init_reply, kFlagsAt) | kInitExt);
  set_word(init_reply, kFlags2At, word_at(init_reply, kFlags2At) | kPassthrough2);
  set_word(init_reply, kStackDepthAt, kStackDepth);
}

Result<BackingId> open_backing(int device_fd, int file) {
  const BackingMap map{file, 0, 0};
  const int id = ::ioctl(device_fd, kBackingOpen, &map);
  if (id > 0) return id;
  return fail(errno_error(id < 0 ? errno : EIO, "the kernel does not take a file for passthrough"));
}

Status close_backing(int device_fd, BackingId id) {
  const auto word = static_cast<std::uint32_t>(id);
  if (::ioctl(device_fd, kBackingClose, &word) == 0) return {};
  return fail(errno_error(errno, "the kernel does not let go of a passthrough file"));
}

Status try_passthrough(int device_fd) {
  VOUCHFS_ASSIGN(const UniqueFd empty, make_memory("vouchfs-probe"));
  VOUCHFS_ASSIGN(const BackingId id, open_backing(device_fd, empty.get()));
  return close_backing(device_fd, id);
}

int reply_open_passthrough(fuse_req_t request, fuse_file_info* info, BackingId id) {
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17)
  info->keep_cache = 0;
  info->backing_id = id;
  return fuse_reply_open(request, info);
#else
  const struct {  // struct fuse_open_out; the last word was padding before 7.40
    std::uint64_t handle;
    std::uint32_t flags;
    std::int32_t backing_id;
  } out = {info->fh, kOpenPassthrough | (info->noflush != 0 ? kOpenNoFlush : 0U), id};
  return fuse_reply_buf(request, reinterpret_cast<const char*>(&out), sizeof out);
#endif
}

}  // namespace vouchfs::fs
