// torch_parts.h: the two forms of a torch file. Internal to core/formats.
// Layer:  core/formats (2).
// Errors: io from the reader. What is broken goes to `file`.
#pragma once

#include <cstdint>
#include <string>

#include "formats/byte_reader.h"
#include "formats/pickle_bytes.h"
#include "formats/pickle_machine.h"
#include "formats/torch_file.h"

namespace vouchfs::formats {

Status read_torch_zip(std::uint64_t file_bytes, const ReadAt& read, TorchFile& file);
Status read_torch_legacy(std::uint64_t file_bytes, const ReadAt& read, TorchFile& file);

// The fault of a machine as a problem of the file: `what` is the pickle ("data.pkl").
HeaderProblem pickle_problem(const PickleMachine& machine, const PickleBytes& bytes, const std::string& what);

}  // namespace vouchfs::formats
