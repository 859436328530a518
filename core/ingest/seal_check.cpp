#include "ingest/seal_check.h"

namespace vouchfs::ingest {
namespace {

std::string how_changed(const seal::ManifestFile& before, const seal::ManifestFile& now) {
  if (before.bytes != now.bytes) return "changed: " + std::to_string(before.bytes) + " bytes sealed, " + std::to_string(now.bytes) + " now";
  return "changed: same size, other content";
}

}  // namespace

std::vector<SealDifference> seal_differences(const seal::OpenedSeal& sealed, const std::vector<SealedFile>& now, const seal::Manifest& manifest,
                                             const std::string& table_text) {
  std::vector<SealDifference> differences;
  const std::vector<seal::ManifestFile>& before = sealed.manifest.files;
  std::size_t b = 0;
  std::size_t n = 0;
  while (b < before.size() || n < now.size()) {
    if (b == before.size() || (n < now.size() && now[n].entry.path < before[b].path)) {
      differences.push_back({now[n++].entry.path, "not sealed"});
    } else if (n == now.size() || before[b].path < now[n].entry.path) {
      differences.push_back({before[b++].path, "missing"});
    } else {
      if (!(before[b] == now[n].entry)) differences.push_back({before[b].path, how_changed(before[b], now[n].entry)});
      else if (now[n].tree_differs) differences.push_back({before[b].path, "its stored tree is damaged or missing"});
      ++b, ++n;
    }
  }
  // The table follows from the files: worth a line of its own only when they are all right.
  const bool table_differs = manifest.tensors_fsverity != sealed.manifest.tensors_fsverity || table_text.size() != sealed.manifest.tensors_bytes;
  if (differences.empty() && table_differs) differences.push_back({seal::table_path(sealed.manifest.tensors_fsverity), "tensor table differs"});
  return differences;
}

}  // namespace vouchfs::ingest
