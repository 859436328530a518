// mounted_model.h: a model served by a mount of vouchfs, and what that mount says of the blocks it refuses. Internal to core/doctor.
// Layer:  core/doctor (5).
// Source: .vouch/status.json and .vouch/events.jsonl of the mount, docs/SEMANTICS.md. Both are taken with suspicion: what is not as described there is
//         no word of the mount.
// Cost:   two small files, read only when reading a file of the model failed.
#pragma once

#include <string>
#include <vector>

#include "doctor/facts.h"
#include "doctor/finding.h"

namespace vouchfs::doctor {

// True when a .vouch folder is that of a mount; a seal's folder of the same name has the tables that a mount does not show.
bool is_mount_folder(const std::string& vouch_dir);

// A reader of a mount sees an input/output error and no more. Puts in its place which blocks the mount refuses, why, and which tensors they cut.
// Findings of files on no mount, and of those the mount has no word about, stay.
std::vector<Finding> explain_refused_blocks(const ModelFacts& model, std::vector<Finding> findings);

}  // namespace vouchfs::doctor
