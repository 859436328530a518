#include "fs/operations.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/units.h"
#include "fs/attributes.h"
#include "fs/context.h"
#include "fs/errno_map.h"

namespace vouchfs::fs {
namespace {

using view::Node;
using view::NodeKind;

// 1 MiB a request: FUSE_MAX_MAX_PAGES of stock kernels. Said explicitly, so that a session restored later agrees with this one.
constexpr unsigned kMaxRequestBytes = 1U << 20;
// The kernel stops reading ahead when 3/4 of this many requests wait; its default of 12 binds a fast reader.
constexpr unsigned kMaxBackground = 64;

Context& context_of(fuse_req_t request) { return *static_cast<Context*>(fuse_req_userdata(request)); }

view::Caller caller_of(fuse_req_t request) {
  const fuse_ctx* ctx = fuse_req_ctx(request);
  return {ctx->pid, ctx->uid};
}

// A pinned file has two ids.
const Node* find_node(const Context& context, fuse_ino_t id) {
  if (const Node* node = context.view.find(id)) return node;
  const PinnedFile* pinned = context.pins.find(id);
  return pinned == nullptr ? nullptr : pinned->item().node;
}

const Node* node_or_reply(fuse_req_t request, fuse_ino_t id) {
  const Node* node = find_node(context_of(request), id);
  if (node == nullptr) fuse_reply_err(request, ESTALE);
  return node;
}

fuse_entry_param entry_for(const Context& context, const Node* node) {
  fuse_entry_param entry{};  // ino 0: the name is not there, and the kernel may remember that
  entry.attr_timeout = entry.entry_timeout = kForever;
  if (node != nullptr) {
    entry.ino = context.pins.shown_id(*node);
    entry.attr = to_stat(*node);
  }
  return entry;
}

// Exceptions mean a bug or no memory: the reader gets EIO, the mount lives on.
template <class Body>
void guarded(fuse_req_t request, Body body) {
  int failed = 0;
  try {
    body();
  } catch (const std::bad_alloc&) {
    failed = ENOMEM;
  } catch (const std::exception& error) {
    log::error(std::string("internal error in an operation: ") + error.what());
    failed = EIO;
  }
  if (failed != 0) fuse_reply_err(request, failed);
}

void init([[maybe_unused]] void* userdata, fuse_conn_info* conn) {
  const auto want = [conn](unsigned capability, bool on) {
    if (on && (conn->capable & capability) != 0) conn->want |= capability;
    if (!on) conn->want &= ~capability;
  };
  // Replies are written from the buffer that was hashed; spliced pages could change after that.
  want(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE, false);
  want(FUSE_CAP_AUTO_INVAL_DATA, false);
  want(FUSE_CAP_EXPLICIT_INVAL_DATA, true);
  want(FUSE_CAP_EXPORT_SUPPORT, true);
  want(FUSE_CAP_PARALLEL_DIROPS, true);
  want(FUSE_CAP_READDIRPLUS, true);
  want(FUSE_CAP_READDIRPLUS_AUTO, true);
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17)
  want(FUSE_CAP_PASSTHROUGH, static_cast<Context*>(userdata)->transport.passthrough_agreed());  // older ones: Transport does it
#endif
  conn->max_write = kMaxRequestBytes;
  conn->max_background = kMaxBackground;
  conn->congestion_threshold = kMaxBackground * 3 / 4;
}

void lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  const Context& context = context_of(request);
  const Node* folder = node_or_reply(request, parent);
  if (folder == nullptr) return;
  const std::string_view wanted(name);
  const Node* node = wanted == "." ? folder : wanted == ".." ? context.view.find(folder->parent) : context.view.lookup(parent, wanted);
  fuse_entry_param entry = entry_for(context, node);
  if (wanted == ".") entry.ino = parent;  // a file handle that was resolved again keeps its id
  fuse_reply_entry(request, &entry);
}

void getattr(fuse_req_t request, fuse_ino_t id, fuse_file_info*) {
  const Node* node = node_or_reply(request, id);
  if (node == nullptr) return;
  const struct stat attributes = to_stat(*node);
  fuse_reply_attr(request, &attributes, kForever);
}

void open_live(fuse_req_t request, const Node& node, fuse_file_info* info) {
  guarded(request, [&] {
    Context& context = context_of(request);
    info->fh = context.live.open(context.view, node);
    info->direct_io = 1;
    if (fuse_reply_open(request, info) == -ENOENT) context.live.close(info->fh);  // the opener was interrupted
  });
}

// Opens of a pinned file's second id go to its memory, and never to us: the kernel does not let one id be read both ways.
void open_pinned(fuse_req_t request, const PinnedFile& file, fuse_file_info* info) {
  const BackingId backing = file.backing();
  if (backing == 0) return void(fuse_reply_err(request, ESTALE));  // a handle of an earlier mount
  reply_open_passthrough(request, info, backing);
}

void open(fuse_req_t request, fuse_ino_t id, fuse_file_info* info) {
  const Node* node = node_or_reply(request, id);
  if (node == nullptr) return;
  if ((info->flags & O_ACCMODE) != O_RDONLY || (info->flags & O_TRUNC) != 0) return void(fuse_reply_err(request, EROFS));
  info->fh = 0;
  info->noflush = 1;
  if (node->kind == NodeKind::live_file) return open_live(request, *node, info);
  if (id != node->id) return open_pinned(request, *context_of(request).pins.find(id), info);
  guarded(request, [&] {
    if (node->kind == NodeKind::sealed_file) {
      const Status allowed = node->model->check_open(node->file_index, caller_of(request));
      if (!allowed) return void(fuse_reply_err(request, to_errno(allowed.error())));
    }
    info->keep_cache = 1;
    fuse_reply_open(request, info);
  });
}

void release(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  if (info->fh != 0) context_of(request).live.close(info->fh);
  fuse_reply_err(request, 0);
}

void reply_part(fuse_req_t request, std::string_view content, std::size_t size, off_t offset) {
  const auto at = static_cast<std::uint64_t>(offset);
  const std::string_view part = at < content.size() ? content.substr(at, size) : std::string_view();
  fuse_reply_buf(request, part.data(), part.size());
}

// Bytes that the fill of a pinned file has verified already are copied from there. True when they were and the reply was sent.
bool read_pinned(fuse_req_t request, const Node& node, std::size_t size, off_t offset, AlignedBuffer& buffer) {
  const PinnedFile* file = context_of(request).pins.find(node.id);
  const auto at = static_cast<std::uint64_t>(offset);
  if (file == nullptr || at >= node.bytes) return false;
  const auto bytes = buffer.span().first(static_cast<std::size_t>(std::min<std::uint64_t>(size, node.bytes - at)));
  if (!file->read(at, bytes)) return false;
  context_of(request).view.runtime().counters.bytes_served.fetch_add(bytes.size(), std::memory_order_relaxed);
  fuse_reply_buf(request, reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return true;
}

void read_sealed(fuse_req_t request, const Node& node, std::size_t size, off_t offset) {
  view::Runtime& runtime = context_of(request).view.runtime();
  runtime.counters.reads.fetch_add(1, std::memory_order_relaxed);
  auto buffer = runtime.buffers.lease(size + 2 * kBlockBytes);
  if (read_pinned(request, node, size, offset, *buffer)) return;
  const auto bytes = node.model->serve(node.file_index, static_cast<std::uint64_t>(offset), size, *buffer, caller_of(request));
  if (!bytes) return void(fuse_reply_err(request, to_errno(bytes.error())));
  std::array<iovec, verify::ByteParts::kMost> parts{};
  for (std::size_t i = 0; i < bytes->count; ++i) parts[i] = {const_cast<std::uint8_t*>(bytes->parts[i].data()), bytes->parts[i].size()};
  fuse_reply_iov(request, parts.data(), static_cast<int>(bytes->count));
}

void read(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset, fuse_file_info* info) {
  const Node* node = node_or_reply(request, id);
  if (node == nullptr) return;
  guarded(request, [&] {
    Context& context = context_of(request);
    switch (node->kind) {
      case NodeKind::sealed_file: return read_sealed(request, *node, size, offset);
      case NodeKind::fixed_file: return reply_part(request, node->content, size, offset);
      case NodeKind::live_file: return reply_part(request, *context.live.content(info->fh, context.view, *node), size, offset);
      case NodeKind::folder: break;
    }
    fuse_reply_err(request, EISDIR);
  });
}

void opendir(fuse_req_t request, fuse_ino_t id, fuse_file_info* info) {
  if (node_or_reply(request, id) == nullptr) return;
  info->fh = 0;
  info->keep_cache = 1;
  info->cache_readdir = 1;
  fuse_reply_open(request, info);
}

// Entry number n of a folder: "." is 0, ".." is 1, then the children. The cookie of an entry is its number plus one.
const Node* entry_of(const view::MountView& view, const Node& folder, std::uint64_t n, std::string& name) {
  if (n >= folder.children.size() + 2) return nullptr;
  const Node* node = n == 0 ? &folder : view.find(n == 1 ? folder.parent : folder.children[n - 2]);
  name = n == 0 ? "." : n == 1 ? ".." : node->name;
  return node;
}

template <class Add>
void list(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset, Add add) {
  const Node* folder = node_or_reply(request, id);
  if (folder == nullptr) return;
  guarded(request, [&] {
    std::vector<char> buffer(size);
    std::size_t used = 0;
    std::string name;
    for (auto n = static_cast<std::uint64_t>(offset);; ++n) {
      const Node* node = entry_of(context_of(request).view, *folder, n, name);
      if (node == nullptr) break;
      const std::size_t need = add(buffer.data() + used, size - used, name.c_str(), *node, static_cast<off_t>(n + 1));
      if (need > size - used) break;
      used += need;
    }
    fuse_reply_buf(request, buffer.data(), used);
  });
}

void readdir(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset, fuse_file_info*) {
  list(request, id, size, offset, [request](char* at, std::size_t room, const char* name, const Node& node, off_t cookie) {
    const struct stat attributes = to_stat(node);
    return fuse_add_direntry(request, at, room, name, &attributes, cookie);
  });
}

void readdirplus(fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset, fuse_file_info*) {
  list(request, id, size, offset, [request](char* at, std::size_t room, const char* name, const Node& node, off_t cookie) {
    const fuse_entry_param entry = entry_for(context_of(request), &node);
    return fuse_add_direntry_plus(request, at, room, name, &entry, cookie);
  });
}

// The protocol of getxattr and listxattr: size 0 asks how much room is needed.
void reply_attribute(fuse_req_t request, std::string_view value, std::size_t size) {
  if (size == 0) return void(fuse_reply_xattr(request, value.size()));
  if (size < value.size()) return void(fuse_reply_err(request, ERANGE));
  fuse_reply_buf(request, value.data(), value.size());
}

void getxattr(fuse_req_t request, fuse_ino_t id, const char* name, std::size_t size) {
  const Node* node = node_or_reply(request, id);
  if (node == nullptr) return;
  guarded(request, [&] {
    const auto value = context_of(request).view.attribute(*node, name);
    if (!value) return void(fuse_reply_err(request, ENODATA));
    reply_attribute(request, *value, size);
  });
}

void listxattr(fuse_req_t request, fuse_ino_t id, std::size_t size) {
  const Node* node = node_or_reply(request, id);
  if (node == nullptr) return;
  guarded(request, [&] {
    std::string names;
    for (const std::string& name : context_of(request).view.attribute_names(*node)) names.append(name).push_back('\0');
    reply_attribute(request, names, size);
  });
}

bool has_digest(const Node& node) { return node.kind == NodeKind::sealed_file || node.kind == NodeKind::fixed_file; }

// struct fsverity_digest: algorithm and size, two bytes each, native order; then the digest. In: the room for it.
void measure_verity(fuse_req_t request, const Node& node, const void* in, std::size_t in_bytes, std::size_t out_bytes) {
  struct Reply {
    std::uint16_t algorithm = FS_VERITY_HASH_ALG_SHA256;
    std::uint16_t size = hash::kDigestBytes;
    hash::Digest digest;
  };
  static_assert(sizeof(Reply) == 4 + hash::kDigestBytes);
  std::uint16_t asked[2];
  if (!has_digest(node)) return void(fuse_reply_err(request, ENODATA));
  if (in_bytes < sizeof asked) return void(fuse_reply_err(request, EINVAL));
  std::memcpy(asked, in, sizeof asked);
  if (asked[1] < hash::kDigestBytes || out_bytes < sizeof(Reply)) return void(fuse_reply_err(request, EOVERFLOW));
  Reply reply;
  reply.digest = node.fsverity;
  fuse_reply_ioctl(request, 0, &reply, sizeof reply);
}

void ioctl(fuse_req_t request, fuse_ino_t id, unsigned command, void*, fuse_file_info*, unsigned, const void* in, std::size_t in_bytes, std::size_t out_bytes) {
  const Node* node = node_or_reply(request, id);
  if (node == nullptr) return;
  const unsigned flags = has_digest(*node) ? FS_VERITY_FL : 0;
  switch (command) {
    case FS_IOC_MEASURE_VERITY: return measure_verity(request, *node, in, in_bytes, out_bytes);
    case FS_IOC_GETFLAGS: return void(fuse_reply_ioctl(request, 0, &flags, std::min(out_bytes, sizeof flags)));
    case FS_IOC_SETFLAGS:
    case FS_IOC_ENABLE_VERITY: return void(fuse_reply_err(request, EROFS));
    default: return void(fuse_reply_err(request, ENOTTY));
  }
}

void statfs(fuse_req_t request, fuse_ino_t) {
  const view::MountView& view = context_of(request).view;
  struct statvfs out {};
  out.f_bsize = out.f_frsize = kBlockBytes;
  out.f_blocks = blocks_for(view.total_bytes());
  out.f_files = view.node_count();
  out.f_namemax = 255;
  fuse_reply_statfs(request, &out);
}

fuse_lowlevel_ops make_operations() {
  fuse_lowlevel_ops ops{};
  ops.init = init;
  ops.lookup = lookup;
  ops.getattr = getattr;
  ops.open = open;
  ops.read = read;
  ops.release = release;
  ops.opendir = opendir;
  ops.readdir = readdir;
  ops.readdirplus = readdirplus;
  ops.getxattr = getxattr;
  ops.listxattr = listxattr;
  ops.ioctl = ioctl;
  ops.statfs = statfs;
  add_read_only_operations(ops);
  return ops;
}

}  // namespace

const fuse_lowlevel_ops& operations() {
  static const fuse_lowlevel_ops ops = make_operations();
  return ops;
}

}  // namespace vouchfs::fs
