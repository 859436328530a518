// engine.h: the hash engine of a command, as VOUCHFS_HASH wishes.
// Layer: mount_tools (7).
#pragma once

#include <memory>

#include "hash/sha256.h"
#include "mount_tools/output.h"

namespace vouchfs::mount_tools {

// Never null; a wish that cannot be met is a warning.
std::shared_ptr<const hash::Sha256Engine> chosen_engine(Output& output);

}  // namespace vouchfs::mount_tools
