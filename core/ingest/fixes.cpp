#include "ingest/fixes.h"

#include <fcntl.h>

#include <algorithm>
#include <array>

#include "base/aligned_buffer.h"
#include "base/bytes.h"
#include "base/file.h"
#include "formats/add_format.h"
#include "formats/safetensors.h"

namespace vouchfs::ingest {
namespace {

constexpr std::array<std::uint8_t, 3> kByteOrderMark = {0xEF, 0xBB, 0xBF};
constexpr std::uint64_t kLengthBytes = 8;  // of the header's length in front of a safetensors file

bool may_have_bom(std::string_view path) { return path.ends_with(".safetensors") || path.ends_with(".json"); }

seal::FixPiece range(std::uint64_t begin, std::uint64_t end) { return {{}, begin, end}; }

std::string little_endian(std::uint64_t value) {
  std::string bytes;
  for (unsigned shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(value >> shift & 0xFFU);
  return bytes;
}

// Pieces that hold bytes; the others are left out.
void add(seal::FileFix& fix, seal::FixPiece piece) {
  fix.bytes += piece.bytes();
  if (piece.bytes() > 0) fix.pieces.push_back(std::move(piece));
}

Result<std::string> header_text(std::uint64_t skip, const formats::ReadAt& read) {
  std::array<std::uint8_t, kLengthBytes> raw{};
  VOUCHFS_TRY(read(skip, raw));
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) length |= static_cast<std::uint64_t>(raw[i]) << (8 * i);
  if (length > formats::kMaxSafetensorsHeader) return std::string();  // its header was read before: the file changes, which is noticed
  std::string text(static_cast<std::size_t>(length), '\0');
  VOUCHFS_ASSIGN(const std::size_t got, read(skip + kLengthBytes, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
  text.resize(got);
  return text;
}

// [length, grown] [header up to the edit] [edit, filled up with blanks] [the rest of the header and the data]
Status plan_format(std::uint64_t file_bytes, std::uint64_t skip, const formats::ReadAt& read, FixPlan& plan) {
  VOUCHFS_ASSIGN(const std::string json, header_text(skip, read));
  const auto edit = formats::format_edit(json);
  if (!edit) return {};
  const std::uint64_t length = json.size() + formats::kFormatEditGrowth;
  if (length > formats::kMaxSafetensorsHeader) {
    plan.trouble = "no format can be added: the header would have " + std::to_string(length) + " bytes, more than readers take";
    return {};
  }
  const std::uint64_t start = skip + kLengthBytes;
  seal::FileFix& fix = plan.fix.emplace();
  add(fix, {little_endian(length), 0, 0});
  add(fix, range(start, start + edit->begin));
  add(fix, {edit->text, 0, 0});
  add(fix, range(start + edit->end, file_bytes));
  fix.kinds.emplace_back(seal::kFixFormat);
  return {};
}

// The shown file's bytes, in order.
class Measure {
 public:
  Measure(const seal::FileFix& fix, int fd, const std::string& shown, const HashContext& context)
      : fix_(fix), fd_(fd), shown_(shown), context_(context), tree_(fix.bytes, context.engine, {}) {}

  Status run() {
    ::posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
    for (const seal::FixPiece& piece : fix_.pieces) {
      const bool is_range = piece.literal.empty();
      VOUCHFS_TRY(is_range ? take_range(piece) : take({reinterpret_cast<const std::uint8_t*>(piece.literal.data()), piece.literal.size()}));
    }
    return {};
  }
  Result<hash::Digest> fsverity() {
    VOUCHFS_ASSIGN(const merkle::BuiltTree built, tree_.finish());
    return built.digest;
  }
  hash::Digest sha256() { return stream_.finish(); }

 private:
  Status take(std::span<const std::uint8_t> bytes) {
    stream_.update(bytes);
    return tree_.append(bytes);
  }
  Status take_range(const seal::FixPiece& piece) {
    for (std::uint64_t at = piece.begin; at < piece.end;) {
      const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), piece.end - at));
      VOUCHFS_TRY(may_read(want, context_));
      VOUCHFS_ASSIGN(const std::size_t got, read_full(fd_, at, buffer_.span().first(want), shown_));
      if (got == 0) break;  // the tree tells that bytes are missing
      VOUCHFS_TRY(take(buffer_.span().first(got)));
      at += got;
    }
    return {};
  }

  const seal::FileFix& fix_;
  int fd_;
  const std::string& shown_;
  const HashContext& context_;
  merkle::TreeBuilder tree_;
  hash::Sha256Stream stream_;
  AlignedBuffer buffer_{kReadBytes};
};

}  // namespace

Result<FixWishes> fix_wishes(const std::vector<std::string>& words) {
  FixWishes wishes;
  for (const std::string& word : words) {
    if (word == seal::kFixBom)
      wishes.bom = true;
    else if (word == seal::kFixFormat)
      wishes.format = true;
    else
      return fail(ErrorCode::invalid_argument, "there is no fix '" + word + "'", {}, "the fixes are bom and format");
  }
  return wishes;
}

FixWishes wishes_of(const std::vector<seal::FileFix>& fixes) {
  const auto has = [&](const char* kind) {
    return std::any_of(fixes.begin(), fixes.end(),
                       [&](const seal::FileFix& fix) { return std::find(fix.kinds.begin(), fix.kinds.end(), kind) != fix.kinds.end(); });
  };
  return {has(seal::kFixBom), has(seal::kFixFormat)};
}

Result<std::uint64_t> bytes_to_skip(std::string_view path, std::uint64_t file_bytes, const formats::ReadAt& read, const FixWishes& wishes) {
  if (!wishes.bom || !may_have_bom(path) || file_bytes <= kByteOrderMark.size()) return 0;
  std::array<std::uint8_t, kByteOrderMark.size()> head{};
  VOUCHFS_ASSIGN(const std::size_t got, read(0, head));
  return got == head.size() && head == kByteOrderMark ? std::uint64_t{kByteOrderMark.size()} : 0;
}

formats::ReadAt reader_behind(std::uint64_t skip, formats::ReadAt read) {
  if (skip == 0) return read;
  return [skip, read = std::move(read)](std::uint64_t offset, std::span<std::uint8_t> dst) { return read(offset + skip, dst); };
}

Result<FixPlan> plan_fix(const std::string& path, std::uint64_t file_bytes, std::uint64_t skip, bool header_good, const formats::ReadAt& read,
                         const FixWishes& wishes) {
  FixPlan plan;
  if (wishes.format && header_good) {
    VOUCHFS_TRY(plan_format(file_bytes, skip, read, plan));
  }
  if (!plan.fix && skip > 0) add(plan.fix.emplace(), range(skip, file_bytes));
  if (!plan.fix) return plan;
  plan.fix->path = path;
  if (skip > 0) plan.fix->kinds.insert(plan.fix->kinds.begin(), seal::kFixBom);
  return plan;
}

Status measure_fix(seal::FileFix& fix, int fd, const std::string& shown, const HashContext& context) {
  Measure measure(fix, fd, shown, context);
  VOUCHFS_TRY(measure.run());
  auto fsverity = measure.fsverity();
  if (!fsverity && fsverity.error().where.file.empty()) fsverity.error().where.file = shown;
  if (!fsverity) return fail(std::move(fsverity).error());
  fix.fsverity = *fsverity;
  fix.sha256 = measure.sha256();
  return {};
}

}  // namespace vouchfs::ingest
