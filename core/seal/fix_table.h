// fix_table.h: files that a view shows otherwise than they lie on disk (`ingest --fix`), put together from pieces.
// Layer:  core/seal (3). A section of the tensor table, so the model digest covers it.
// Format: docs/formats/seal.md, "Fixes". docs/decisions/0018-fixes-by-view.md tells why pieces, and why padded as they are.
// Errors: bad_format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/json_fields.h"
#include "hash/digest.h"
#include "seal/json_digest.h"

namespace vouchfs::seal {

inline constexpr std::size_t kMaxFixPieces = 16;          // of one file; the fixes there are need four
inline constexpr std::size_t kMaxLiteralBytes = 64 << 10;  // of one piece; they need 4100
inline constexpr const char* kFixBom = "bom";              // the UTF-8 byte order mark in front is left out
inline constexpr const char* kFixFormat = "format";        // __metadata__ {"format":"pt"} is added to a safetensors header

// A run of bytes of the file as it is shown: bytes of the seal's own, or, when `literal` is empty, bytes [begin, end) of the sealed file.
struct FixPiece {
  std::string literal;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t bytes() const noexcept { return literal.empty() ? end - begin : literal.size(); }
  bool operator==(const FixPiece&) const = default;
};

struct FileFix {
  std::string path;                // of the sealed file
  std::vector<std::string> kinds;  // of the above; sorted, at least one
  std::vector<FixPiece> pieces;    // in order of the file as it is shown; none is empty
  std::uint64_t bytes = 0;         // of the file as it is shown: the sum of its pieces
  hash::Digest fsverity{};         // likewise
  hash::Digest sha256{};
  bool operator==(const FileFix&) const = default;
};

void write_fix(std::string& out, const FileFix& fix);

// Reads the list of fixes into `fixes`, which must outlive it. Refuses unsorted paths and kinds, unknown kinds, empty, huge or absurd pieces,
// and a size that is not their sum.
class FixListReader {
 public:
  explicit FixListReader(std::vector<FileFix>& fixes);
  FixListReader(const FixListReader&) = delete;
  FixListReader& operator=(const FixListReader&) = delete;

 private:
  Status add_kind(std::string&& kind);
  Status finish_piece();
  Status finish();

  std::vector<FileFix>& fixes_;
  FileFix fix_;
  FixPiece piece_;
  bool has_literal_ = false;
  formats::JsonLeaf path_;
  formats::JsonLeaf kind_;
  formats::JsonList kinds_;
  formats::JsonLeaf literal_;
  formats::JsonLeaf begin_;
  formats::JsonLeaf end_;
  formats::JsonObject piece_object_;
  formats::JsonList pieces_;
  formats::JsonLeaf size_;
  formats::JsonLeaf fsverity_;
  formats::JsonLeaf sha256_;
  formats::JsonObject object_;

 public:
  formats::JsonList list;
};

}  // namespace vouchfs::seal
