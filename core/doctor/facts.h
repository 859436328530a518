// facts.h: what doctor knows of a model before any check judges it: names, sizes, first bytes, headers, evidence. Gathered once; checks only read it.
// Layer:   core/doctor (5).
// Owns:    plain values; nothing keeps a descriptor.
// Threads: const once gathered.
// Cost:    per file: lstat, stat, the first 4 KiB, the header of a weight file, a SEEK_HOLE walk; never tensor data.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "formats/byte_reader.h"
#include "formats/file_kind.h"
#include "formats/gguf.h"
#include "formats/lfs_pointer.h"
#include "formats/safetensors.h"
#include "formats/shard_index.h"
#include "formats/torch_file.h"
#include "publisher/evidence.h"
#include "publisher/place.h"
#include "seal/seal_directory.h"

namespace vouchfs::doctor {

enum class Presence {
  readable,
  unreadable,  // there, but the user in question may not read it (or pass a folder on the way)
  dangling,    // a symbolic link to nothing
  loop,        // a symbolic link that leads to itself
  special,     // a fifo, socket or device, or a folder that has the name of a weight file
  io_error,    // the system failed to read it
};

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

struct FileFacts {
  std::string path;       // relative to the model
  std::string real_path;  // what to give to open(2)
  Presence presence = Presence::readable;
  std::string link_target;  // of a dangling or looping link, as written
  std::string trouble;      // of unreadable and io_error: what the system said, and which folder or mode is the cause
  std::string blocked_by;   // of unreadable: the folder on the way that may not be passed, as an absolute path; empty when the file's own mode is the cause
  std::uint64_t bytes = 0;
  mode_t mode = 0;
  uid_t owner = 0;
  gid_t group = 0;
  std::int64_t mtime_ns = 0;
  std::string head;  // at most kKindBytes; kept only where a name or the content promises weights
  formats::KindOfFile kind;
  std::vector<ByteRange> holes;  // never written, by SEEK_HOLE; at most kKeptHoles, the longest kept; sorted by offset
  std::uint64_t hole_bytes = 0;  // of all holes
  std::optional<formats::LfsPointer> pointer;
  std::optional<formats::SafetensorsHeader> safetensors;  // name says so and kind does not speak against it, or the kind says so
  std::optional<formats::GgufHeader> gguf;
  std::optional<formats::TorchFile> torch;
  std::optional<formats::ParsedIndex> index;  // any index of weights
  std::vector<publisher::Evidence> evidence;
  std::optional<seal::ManifestFile> sealed;  // what the seal says of it
  // Tensors whose place is known, also of a broken file; null when there are none.
  const std::vector<formats::Tensor>* tensors() const noexcept;
  // True when its name or its content is a weight file of any format.
  bool is_weights = false;
};
inline constexpr std::size_t kKeptHoles = 1024;

// A folder of the model that could not be looked into.
struct FolderTrouble {
  std::string path;      // relative to the model; "" for the model itself
  std::string sentence;  // what the system said, and which mode and owner are the cause
  int sys_errno = 0;
};

// One model: a folder with its subfolders, a single file, a snapshot, or an Ollama model.
struct ModelFacts {
  publisher::Place place;
  bool single_file = false;
  std::string shown;             // PATH-relative prefix of every file in findings: "" or "models--org--name/snapshots/<commit>"
  std::vector<FileFacts> files;  // sorted by path; .git, .cache and .vouch left out
  publisher::EvidenceMap evidence;
  seal::TensorTable table;                    // as ingest would judge it: readable weight files and every index record
  std::optional<std::string> config;          // config.json of the root, when it is readable and at most 16 MiB
  std::optional<std::string> adapter_config;  // adapter_config.json likewise
  std::vector<FolderTrouble> folder_trouble;  // folders that could not be listed or passed; sorted by path
  std::vector<std::string> folders;           // subfolders, sorted
  // The seal, when there is one; or why it could not be used.
  std::optional<seal::Manifest> sealed;
  std::string seal_dir;
  std::string seal_trouble;

  const FileFacts* find(const std::string& path) const;
  // "a/b" -> what findings call it.
  std::string shown_path(const std::string& path) const;
};

struct GatherOptions {
  std::optional<uid_t> as_user;  // judge access as this user (with its groups); root sees everything
  std::optional<std::string> seal_dir;
  std::optional<std::string> revision;
};

// Facts of one model. Fails: not_found and io for PATH itself only; trouble with a file is a fact.
Result<ModelFacts> gather(const publisher::Place& place, const GatherOptions& options, const CancelFlag& cancel);
Result<ModelFacts> gather_file(const std::string& path, const GatherOptions& options, const CancelFlag& cancel);

// Opens a file for a check that must look at more. The reader holds the descriptor.
Result<formats::ReadAt> open_reader(const FileFacts& file);

}  // namespace vouchfs::doctor
