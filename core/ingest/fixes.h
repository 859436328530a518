// fixes.h: `--fix`: which files of a model a view is to show mended, how, and what the mended file's digests are.
// Layer:   core/ingest (5).
// Errors:  io, changed, cancelled; each names the file.
// Threads: pure functions of their arguments; safe for concurrent calls.
// Cost:    planning reads three bytes, or a safetensors header; measuring reads the whole file once more.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/byte_reader.h"
#include "ingest/hash_file.h"
#include "seal/fix_table.h"

namespace vouchfs::ingest {

struct FixWishes {
  bool bom = false;     // leave out a byte order mark in front of safetensors and JSON files
  bool format = false;  // add __metadata__ {"format":"pt"} to safetensors headers without a format
  bool any() const noexcept { return bom || format; }
};
// The words of --fix and of the seal. Fails: invalid_argument for another word.
Result<FixWishes> fix_wishes(const std::vector<std::string>& words);
// What the fixes of an older seal were asked for.
FixWishes wishes_of(const std::vector<seal::FileFix>& fixes);

// Bytes in front that are to be left out: 3 for a byte order mark, where that is wished and the name is one of those files; else 0.
Result<std::uint64_t> bytes_to_skip(std::string_view path, std::uint64_t file_bytes, const formats::ReadAt& read, const FixWishes& wishes);
// The same file without its first bytes.
formats::ReadAt reader_behind(std::uint64_t skip, formats::ReadAt read);

// The pieces of the mended file, or nullopt when nothing is to be mended. `skip` from bytes_to_skip. `header_good`: a safetensors file whose
// header was read without a problem; others get no format. size is set, the digests are not.
struct FixPlan {
  std::optional<seal::FileFix> fix;
  std::string trouble;  // why a wished fix cannot be made; empty when there is none
};
Result<FixPlan> plan_fix(const std::string& path, std::uint64_t file_bytes, std::uint64_t skip, bool header_good, const formats::ReadAt& read, const FixWishes& wishes);

// Reads the file once through its pieces and sets the digests. `shown` names the file in errors.
Status measure_fix(seal::FileFix& fix, int fd, const std::string& shown, const HashContext& context);

}  // namespace vouchfs::ingest
