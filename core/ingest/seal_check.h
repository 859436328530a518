// seal_check.h: what differs between a seal on disk and the model as it is now.
// Layer: core/ingest (5). Pure function over values.
#pragma once

#include <vector>

#include "ingest/file_sealer.h"
#include "ingest/ingest.h"
#include "seal/seal_directory.h"

namespace vouchfs::ingest {

// `now`: every file of the model, sorted by path; `manifest_text` and `table_text`: what an ingest would publish.
std::vector<SealDifference> seal_differences(const seal::OpenedSeal& sealed, const std::vector<SealedFile>& now, const seal::Manifest& manifest,
                                             const std::string& table_text);

}  // namespace vouchfs::ingest
