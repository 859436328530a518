// gather_parts.h: the steps of gathering facts, one file each. Internal to core/doctor.
// Layer: core/doctor (5).
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "doctor/facts.h"

namespace vouchfs::doctor {

// gather_scan.cpp: every name below the model, with what stat(2) says; links followed, trouble kept as facts.
Status scan_folder(ModelFacts& model, const CancelFlag& cancel);
// One file by its path on disk.
FileFacts stat_file(const std::string& path, const std::string& real_path);

// gather_content.cpp: head, kind, holes and the headers of one readable file.
void read_content(FileFacts& file);

// gather_access.cpp: whether a user may read what was found; marks files unreadable and adds folder trouble.
// Fails: invalid_argument (unknown user; another user while we are not root), io.
Status judge_access(ModelFacts& model, std::optional<uid_t> as_user);

// gather_table.cpp: every weight file with a sound header and every index, judged.
seal::TensorTable make_table(const ModelFacts& model);

// gather_seal.cpp: the seal of the model, or why it cannot be used.
void read_seal(ModelFacts& model, const std::optional<std::string>& seal_dir);

// "mode 0600, owner alice (1000), group staff (50)".
std::string mode_text(mode_t mode, uid_t owner, gid_t group);

}  // namespace vouchfs::doctor
