// hub_partials.h: unfinished downloads of a Hugging Face cache folder, and which file of which snapshot each belongs to. Internal to core/doctor.
// Layer:  core/doctor (5).
// Source: huggingface_hub: blobs/<etag>.incomplete, since mid 2026 blobs/<etag>.<8 hex>.incomplete; trees/<commit>.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vouchfs::doctor {

struct PartialOwner {
  std::string revision;                // the snapshot
  std::string path;                    // within it
  std::optional<std::uint64_t> bytes;  // of the whole file, when a listing tells
};
struct HubPartial {
  std::string name;         // in blobs/
  std::string etag;         // of the whole file: SHA-256 or git SHA-1
  std::uint64_t bytes = 0;  // there so far
  bool finished = false;    // the whole blob is there too
  std::vector<PartialOwner> owners;
  bool listed_elsewhere = false;  // every snapshot has a listing, and none names it
};
std::vector<HubPartial> hub_partials(const std::string& cache_dir);

// "<etag>.incomplete" or "<etag>.<8 hex>.incomplete" -> etag; nullopt for other names.
std::optional<std::string> etag_of_partial(const std::string& name);

// "3145728 of 8388608 bytes (…) are there".
std::string progress_text(std::uint64_t bytes, const std::optional<std::uint64_t>& whole);

}  // namespace vouchfs::doctor
