// open_view.h: from the MODEL|STORE of a command line to a MountView.
// Layer:  mount_tools (7).
// Errors: not_found (no model, no seal, no sealed model in the store), untrusted, bad_format, io.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "view/mount_view.h"

namespace vouchfs::mount_tools {

// options.model_dir is a model when it has a seal (or a seal directory is given), else a store: its folders that hold a seal are shown,
// the others are hidden and logged.
Result<std::unique_ptr<view::MountView>> open_view(const view::ModelOptions& options, view::Runtime& runtime);

}  // namespace vouchfs::mount_tools
