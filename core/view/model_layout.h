// model_layout.h: what a view shows of one model (DESIGN section 5), as a list of files before it becomes a tree.
// Layer: core/view (5). Uses the seal only; reads no model file.
#pragma once

#include <string>
#include <vector>

#include "observe/event.h"
#include "view/node_tree.h"
#include "view/sealed_model.h"

namespace vouchfs::view {

// Every file of the model's part of the view, sorted by path: the sealed ones, the indexes, and .vouch/. Made bytes are kept by `tree`;
// manifest.json and tensors.json point into the model's seal. A file of the model whose name a synthesized one takes is "<name>.orig".
std::vector<NewNode> model_layout(const SealedModel& model, NodeTree& tree, const hash::Sha256Engine& engine);

// One event for each wrong index, with every change: index_corrected when it is shown corrected, else index_wrong.
std::vector<observe::Event> index_events(const SealedModel& model);

// A file made by the view, with its digests.
NewNode fixed_file(std::string path, std::string what, std::string_view content, const hash::Sha256Engine& engine);
NewNode live_file(std::string path, LiveContent live);

}  // namespace vouchfs::view
