// read_events.h: turns what verify found into events: which file, which bytes, which tensors, which hashes, which sources.
// Layer: core/view (5). Pure: makes events, records none.
#pragma once

#include <string>
#include <vector>

#include "observe/event.h"
#include "seal/tensor_table.h"
#include "verify/verified_file.h"
#include "view/sealed_model.h"

namespace vouchfs::view {

// The file an event is about. Pointers are borrowed; table is null for a file without tensors.
struct EventSubject {
  const std::string* model = nullptr;
  const std::string* file = nullptr;
  std::uint64_t file_bytes = 0;
  const seal::TableFile* table = nullptr;
  std::string source;
};

// corrupt_block, corrupt_tree or source_error.
observe::Event bad_block_event(const EventSubject& subject, const verify::BadBlock& bad, const Caller& caller);
observe::Event transient_event(const EventSubject& subject, std::uint64_t block, const Caller& caller);
observe::Event open_refused_event(const EventSubject& subject, const std::vector<std::uint64_t>& blocks, const Caller& caller);
// The Error a reader's EIO stands for.
Error read_error(const EventSubject& subject, const verify::BadBlock& bad);

}  // namespace vouchfs::view
