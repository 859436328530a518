#include "seal/fix_table.h"

#include <utility>

#include "base/utf8.h"
#include "seal/manifest.h"
#include "seal/object_writer.h"

namespace vouchfs::seal {
namespace {

using formats::take_number;
using formats::take_text;

constexpr std::string_view kHexDigits = "0123456789abcdef";

Status refuse(std::string message) { return fail(ErrorCode::bad_format, std::move(message)); }
std::string quoted(std::string_view text) { return "'" + printable(text) + "'"; }

std::string to_hex(std::string_view bytes) {
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kHexDigits[byte >> 4U];
    hex += kHexDigits[byte & 15U];
  }
  return hex;
}

Result<std::string> from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    const auto high = kHexDigits.find(hex[i]);
    const auto low = kHexDigits.find(hex[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) break;
    bytes += static_cast<char>(high << 4U | low);
  }
  if (2 * bytes.size() != hex.size()) return fail(ErrorCode::bad_format, "'bytes' must be pairs of lower-case hex digits");
  return bytes;
}

formats::JsonLeaf::Take place_into(const char* what, std::uint64_t& into) {
  return take_number(what, kMaxFileBytes, [&into](std::uint64_t value) {
    into = value;
    return Status{};
  });
}

void write_piece(std::string& out, const FixPiece& piece) {
  ObjectWriter object(out);
  if (!piece.literal.empty()) {
    object.text("bytes", to_hex(piece.literal));
    return;
  }
  object.number("begin", piece.begin);
  object.number("end", piece.end);
}

}  // namespace

void write_fix(std::string& out, const FileFix& fix) {
  ObjectWriter object(out);
  object.text("fsverity", hash::to_hex(fix.fsverity));
  object.texts("kinds", fix.kinds);
  object.text("path", fix.path);
  object.list("pieces", fix.pieces, [&](const FixPiece& piece) { write_piece(out, piece); });
  object.text("sha256", hash::to_hex(fix.sha256));
  object.number("size", fix.bytes);
}

FixListReader::FixListReader(std::vector<FileFix>& fixes)
    : fixes_(fixes),
      path_("path", take_text("path", kMaxPathBytes,
                              [this](std::string&& text) {
                                fix_.path = std::move(text);
                                return check_path(fix_.path);
                              })),
      kind_("kinds", take_text("kinds", kMaxNameBytes, [this](std::string&& text) { return add_kind(std::move(text)); })),
      kinds_("kinds", kMaxFixPieces, kind_),
      literal_("bytes", take_text("bytes", 2 * kMaxLiteralBytes,
                                  [this](std::string&& text) -> Status {
                                    has_literal_ = true;
                                    VOUCHFS_ASSIGN(piece_.literal, from_hex(text));
                                    return {};
                                  })),
      begin_("begin", place_into("begin", piece_.begin)),
      end_("end", place_into("end", piece_.end)),
      piece_object_("pieces", {}, [this] { return finish_piece(); }),
      pieces_("pieces", kMaxFixPieces, piece_object_),
      size_("size", place_into("size", fix_.bytes)),
      fsverity_("fsverity", take_digest("fsverity", fix_.fsverity)),
      sha256_("sha256", take_digest("sha256", fix_.sha256)),
      object_("fixes", {}, [this] { return finish(); }),
      list("fixes", kMaxFiles, object_) {
  piece_object_.optional_field("bytes", literal_).optional_field("begin", begin_).optional_field("end", end_);
  object_.field("path", path_).field("kinds", kinds_).field("pieces", pieces_).field("size", size_).field("fsverity", fsverity_).field("sha256", sha256_);
}

Status FixListReader::add_kind(std::string&& kind) {
  if (kind != kFixBom && kind != kFixFormat) return refuse("the fix " + quoted(kind) + " is unknown; this version can do bom and format");
  if (!fix_.kinds.empty() && kind <= fix_.kinds.back()) return refuse("'kinds' is not sorted at " + quoted(kind));
  fix_.kinds.push_back(std::move(kind));
  return {};
}

Status FixListReader::finish_piece() {
  const bool is_range = piece_.end > piece_.begin;
  const bool range_given = piece_.begin != 0 || piece_.end != 0;
  if (has_literal_ ? piece_.literal.empty() || range_given : !is_range)
    return refuse("a piece must have some bytes of its own, or a range of the sealed file that is not empty");
  fix_.pieces.push_back(std::exchange(piece_, {}));
  has_literal_ = false;
  return {};
}

Status FixListReader::finish() {
  if (!fixes_.empty() && fix_.path <= fixes_.back().path) return refuse("the fix of " + quoted(fix_.path) + " is not sorted, or comes twice");
  if (fix_.kinds.empty()) return refuse("the fix of " + quoted(fix_.path) + " says not what it mends");
  std::uint64_t sum = 0;
  for (const FixPiece& piece : fix_.pieces)
    if (__builtin_add_overflow(sum, piece.bytes(), &sum)) return refuse("the pieces of " + quoted(fix_.path) + " are longer than a file can be");
  if (sum != fix_.bytes)
    return refuse("the pieces of " + quoted(fix_.path) + " have " + std::to_string(sum) + " bytes, but its size is " + std::to_string(fix_.bytes));
  fixes_.push_back(std::exchange(fix_, {}));
  return {};
}

}  // namespace vouchfs::seal
