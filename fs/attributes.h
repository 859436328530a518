// attributes.h: attributes of a node as stat(2) shows them. Every one is exact and never changes while the mount lives.
// Layer: fs (6).
#pragma once

#include <sys/stat.h>

#include "view/mount_view.h"

namespace vouchfs::fs {

// How long the kernel may keep names and attributes: for good, because they are a function of the seal (seconds).
inline constexpr double kForever = 1e9;

struct stat to_stat(const view::Node& node);

}  // namespace vouchfs::fs
