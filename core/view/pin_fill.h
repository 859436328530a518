// pin_fill.h: puts the verified bytes of one file, as it is shown, into a sink, from its first byte to its last.
// Layer:   core/view (5).
// Threads: several files may be filled at once; holds no lock.
// Cost:    one read of the file through the reading ahead of the mount; one buffer of 1 MiB.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/cancel.h"
#include "base/result.h"
#include "view/node.h"

namespace vouchfs::view {

// Takes the next bytes of the file, each of them verified.
using PinSink = std::function<Status(std::span<const std::uint8_t>)>;

// Fails: corrupt, truncated, io as a reader's request would, and with the same events; cancelled; what the sink fails with.
// Requires: node is a sealed_file.
Status fill_pinned(const Node& node, const PinSink& sink, const CancelFlag& cancel);

}  // namespace vouchfs::view
