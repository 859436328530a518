// context.h: what one operation has at hand: the view, the transport, the snapshots of live files, the pinned files.
// Layer: fs (6). Owned by the Session; every FUSE operation gets it as its user data.
#pragma once

#include "fs/live_files.h"
#include "fs/pinned_files.h"
#include "fs/transport.h"
#include "view/mount_view.h"

namespace vouchfs::fs {

struct Context {
  explicit Context(view::MountView& view_in) : view(view_in), transport(view_in.runtime().counters.requests) {}
  view::MountView& view;
  Transport transport;
  LiveFiles live;
  PinnedFiles pins;
};

}  // namespace vouchfs::fs
