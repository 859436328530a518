// mount_options.h: the comma list after -o, as mount(8), fstab and people write it.
// Layer:  mount_tools (7).
// Errors: invalid_argument naming the option.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace vouchfs::mount_tools {

struct MountOptions {
  std::optional<std::string> seal;          // seal=DIR
  std::optional<std::string> digest;        // digest=sha256:HEX
  std::optional<std::string> on_known_bad;  // on-known-bad=refuse|serve
  std::optional<std::string> revision;      // revision=REV
  std::optional<std::string> tree_cache;    // tree-cache=SIZE
  std::vector<std::string> pin;             // pin, or pin=GLOB, any number of times
  std::optional<std::string> pin_limit;     // pin-limit=SIZE
  bool allow_other = false;
  std::vector<std::string> kernel;  // noexec, noatime …: handed on
};

// A backslash before a comma makes it part of a value. rw is accepted, because mount(8) passes it by default, and changes nothing;
// so are options that only concern fstab (noauto, nofail, user, _netdev, x-*, comment=…).
Result<MountOptions> parse_mount_options(const std::string& list);

}  // namespace vouchfs::mount_tools
