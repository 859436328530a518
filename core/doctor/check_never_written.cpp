// Files whose size was reserved and whose data never came: holes and zeros where the header should be.
#include <algorithm>

#include "doctor/check_parts.h"
#include "doctor/checks.h"

namespace vouchfs::doctor {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxScan = 8ULL << 20;  // read of one file; past it the sentence says how much was looked at
constexpr std::size_t kPiece = 1 << 20;

bool head_is_zero(const FileFacts& file) {
  return file.head.size() >= kLengthBytes && file.head.find_first_not_of('\0') >= std::min(kLengthBytes, file.head.size());
}

struct Zeros {
  std::uint64_t end = 0;    // the first byte that is not zero, the end of the file, or how far was looked
  bool data_found = false;  // end is a byte that is not zero
};

// Holes are passed over unread.
Zeros find_zeros(const FileFacts& file) {
  const auto read = open_reader(file);
  if (!read) return {};
  std::vector<std::uint8_t> piece(kPiece);
  std::uint64_t looked = 0;
  for (std::uint64_t at = 0; at < file.bytes;) {
    const auto hole =
        std::find_if(file.holes.begin(), file.holes.end(), [&](const ByteRange& range) { return at >= range.offset && at - range.offset < range.length; });
    if (hole != file.holes.end()) {
      at = hole->offset + hole->length;
      continue;
    }
    if (looked >= kMaxScan) return {at, false};
    const auto got = (*read)(at, piece);
    if (!got || *got == 0) return {at, false};
    const std::span<const std::uint8_t> bytes(piece.data(), *got);
    const auto data = std::find_if(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte != 0; });
    if (data != bytes.end()) return {at + static_cast<std::uint64_t>(data - bytes.begin()), true};
    at += *got;
    looked += *got;
  }
  return {file.bytes, false};
}

std::string hole_text(const FileFacts& file) {
  return file.hole_bytes == 0 ? std::string() : "; " + bytes_text(file.hole_bytes) + " of it take no space on disk: they were never written";
}

std::string zero_text(const Zeros& zeros) {
  const std::string text = "the first " + bytes_text(zeros.end) + " are zero, where the header should be; ";
  return text + (zeros.data_found ? "data follows from byte " + std::to_string(zeros.end) : "what follows was not looked at");
}

void say_zeros(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  const Zeros zeros = find_zeros(file);
  const bool all = zeros.end == file.bytes || file.hole_bytes == file.bytes;
  Finding finding = about(model, file.path, all ? "file.never_written" : "file.zero_head");
  finding.offset = 0;
  finding.length = zeros.end;
  finding.message =
      (all ? "the size of " + bytes_text(file.bytes) + " was reserved, but no data was written: every byte is zero" : zero_text(zeros)) + hole_text(file);
  finding.command = fetch_command(model, file.path);
  findings.add(std::move(finding));
}

}  // namespace

void check_never_written(const ModelFacts& model, Findings& findings) {
  for (const FileFacts& file : model.files)
    if (file.is_weights && file.presence == Presence::readable && file.bytes >= kLengthBytes && head_is_zero(file)) say_zeros(model, file, findings);
}

}  // namespace vouchfs::doctor
