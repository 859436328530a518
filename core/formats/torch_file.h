// torch_file.h: a file written by torch.save, in its zip form (since 1.6) or the legacy form: records, tensors, and what its pickle would call.
// Layer:  core/formats (2).
// Source: PyTorch's zip layout and serialization; the pickle is followed by a symbolic machine that calls nothing and imports nothing.
// Errors: io from the reader. A broken file is a verdict.
// Cost:   reads the directory, the local headers, and the pickle; never tensor data. Memory is bounded by kMaxPickleBytes and the bytes really read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/byte_reader.h"
#include "formats/header_problem.h"
#include "formats/tensor.h"

namespace vouchfs::formats {

inline constexpr std::uint64_t kMaxPickleBytes = 256ULL << 20;

enum class TorchForm { zip, legacy };

// One member of the zip form.
struct TorchRecord {
  std::string name;                 // within the archive, without its folder: "data.pkl", "data/0"; always UTF-8
  std::uint64_t header_offset = 0;  // of the local header
  std::uint64_t begin = 0;          // first byte of its content, from the start of the file; 0 when the local header is unusable
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;  // of the content, as the central directory says; 0 in every record: not computed by the writer
  bool usable = true;       // the local header agrees with the central directory and the content lies within the file
  bool stored = true;       // false: compressed; `bytes` are then the compressed ones and crc32 is not theirs
};

// A global that the pickle names. Loading it for real would import it.
struct PickleGlobal {
  std::string module;
  std::string name;
  std::uint64_t offset = 0;  // of the opcode, from the start of the file
  bool allowed = false;      // on the list of torch's own restricted unpickler (weights_only)
};

// HeaderProblem.name is one of: NotTorch, MissingCentralDirectory, BadCentralDirectory, CompressedRecord, MissingPickle, MissingRecord, BadLocalHeader,
// RecordOutOfBounds, BadPickle, UnsupportedOpcode, BadTensor, UnexpectedEnd. A TorchScript archive is told by `torchscript`; it is no problem.
struct TorchFile {
  TorchForm form = TorchForm::zip;
  std::vector<Tensor> tensors;  // (begin, end, name); dtype as torch prints it ("float32"); names joined with '.' through nested dicts; empty with a problem
  std::vector<Tensor> claimed;  // with a problem: every tensor whose place is known all the same
  std::vector<TorchRecord> records;               // zip: in order of the central directory; without one: as found by local headers from the front
  std::vector<PickleGlobal> globals;              // each once
  std::optional<std::uint8_t> restricted_opcode;  // the first opcode that torch.load(weights_only=True) does not know; protocol 4 files have some
  bool big_endian = false;                        // the writer's byte order, when the file says so: readers turn the elements around
  bool torchscript = false;                       // constants.pkl and code/: for torch.jit.load
  bool checksums = false;                         // zip: some CRC is not 0
  std::optional<HeaderProblem> problem;           // the first rule broken; a global that is not allowed is none
  std::vector<HeaderProblem> faults;              // every fault found, problem first: missing records, bad local headers …
};

// True when the bytes at the start of a file are those of the zip or the legacy form. Of the legacy form a damaged mark counts as well, for
// which the first 64 bytes are asked: read_torch_file tells what is wrong with it.
bool looks_like_torch_zip(std::string_view head) noexcept;
bool looks_like_torch_legacy(std::string_view head) noexcept;

Result<TorchFile> read_torch_file(std::uint64_t file_bytes, const ReadAt& read);

}  // namespace vouchfs::formats
