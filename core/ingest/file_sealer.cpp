#include "ingest/file_sealer.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/file.h"
#include "formats/weight_file.h"
#include "seal/seal_directory.h"

namespace vouchfs::ingest {
namespace {

Result<std::string> read_text(std::uint64_t bytes, const formats::ReadAt& read) {
  std::string text(static_cast<std::size_t>(bytes), '\0');
  VOUCHFS_ASSIGN(const std::size_t got, read(0, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
  text.resize(got);
  return text;
}

Result<formats::ParsedIndex> read_index(std::uint64_t bytes, const formats::ReadAt& read) {
  if (bytes > formats::kMaxIndexBytes) {
    formats::ParsedIndex index;
    index.problems.push_back("the file is " + format_bytes(bytes) + " long; an index of more than " + format_bytes(formats::kMaxIndexBytes) + " is not read");
    return index;
  }
  VOUCHFS_ASSIGN(const std::string text, read_text(bytes, read));
  return formats::parse_index(text);
}

// Nothing for a file of a torch name that holds no tensors (training_args.bin, raw arrays): it is bytes like any other.
Result<std::optional<seal::TableFile>> read_header(const ScannedFile& file, std::uint64_t bytes, const formats::ReadAt& read) {
  VOUCHFS_ASSIGN(std::optional<formats::WeightHeader> header, formats::read_weight_header(file_name_of(file.path), bytes, read));
  if (!header) return std::nullopt;
  seal::TableFile table;
  table.path = file.path;
  table.format = formats::to_string(header->format);
  table.tensors = std::move(header->tensors);
  table.problem = std::move(header->problem);
  return table;
}

// Places of a table that was read behind the first bytes of a file, as places of the file.
void shift(seal::TableFile& table, std::uint64_t by) {
  for (formats::Tensor& tensor : table.tensors) {
    tensor.begin += by;
    tensor.end += by;
  }
}

bool is_good_safetensors(const std::optional<seal::TableFile>& table) {
  return table && !table->problem && table->format == formats::to_string(formats::WeightFormat::safetensors);
}

}  // namespace

bool is_weight_file(std::string_view path) { return formats::weight_format_of_name(file_name_of(path)).has_value(); }

std::string_view file_name_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

Status FileSealer::check_unchanged(int fd, const ScannedFile& file) const {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return fail(errno_error(errno, "cannot stat", shown(file)));
  if (S_ISREG(info.st_mode) && identity_of(info) == file.identity) return {};
  return fail(ErrorCode::changed, "changed while it was being ingested", shown(file), "let nothing write to the model, then run this again");
}

Result<UniqueFd> FileSealer::open_unchanged(const ScannedFile& file) const {
  wait_out_tick(file.identity);
  auto fd = open_at(options_.root_fd, file.opened_as(), O_RDONLY | O_NONBLOCK | O_NOCTTY, shown(file));
  if (!fd) return fail(std::move(fd).error());
  VOUCHFS_TRY(check_unchanged(fd->get(), file));
  return fd;
}

Status FileSealer::read_structure(int fd, const ScannedFile& file, SealedFile& sealed) const {
  const std::string name = shown(file);
  const formats::ReadAt read = [&](std::uint64_t offset, std::span<std::uint8_t> dst) { return read_full(fd, offset, dst, name); };
  VOUCHFS_ASSIGN(std::uint64_t skip, bytes_to_skip(file.path, file.identity.bytes, read, options_.fixes));
  if (is_weight_file(file.path)) {
    VOUCHFS_ASSIGN(sealed.table, read_header(file, file.identity.bytes - skip, reader_behind(skip, read)));
    if (skip > 0 && !is_good_safetensors(sealed.table)) {
      skip = 0;  // what is behind the byte order mark is no safetensors file either: it stays as broken as it is
      VOUCHFS_ASSIGN(sealed.table, read_header(file, file.identity.bytes, read));
    }
    if (skip > 0) shift(*sealed.table, skip);
  } else if (formats::index_family_of(file_name_of(file.path))) {
    VOUCHFS_ASSIGN(sealed.index, read_index(file.identity.bytes - skip, reader_behind(skip, read)));
  }
  if (!options_.fixes.any()) return {};
  VOUCHFS_ASSIGN(FixPlan plan, plan_fix(file.path, file.identity.bytes, skip, is_good_safetensors(sealed.table), read, options_.fixes));
  sealed.fix = std::move(plan.fix);
  sealed.fix_trouble = std::move(plan.trouble);
  return sealed.fix ? measure_fix(*sealed.fix, fd, name, options_.hashing) : Status{};
}

Result<HashedFile> FileSealer::hash_into_work(int fd, const ScannedFile& file, std::size_t number) const {
  const WorkFolder& work = *options_.work;
  if (file.identity.bytes <= kBlockBytes) return hash_file(fd, file.identity.bytes, shown(file), {}, options_.hashing, git_sha1(file));
  VOUCHFS_ASSIGN(const UniqueFd part, work.create_part(number));
  const std::string part_shown = work.shown_part(number);
  const merkle::TreeSink sink = [&](std::uint64_t tree_block, std::span<const std::uint8_t> bytes) {
    return write_full(part.get(), tree_block * kBlockBytes, bytes, part_shown);
  };
  auto hashed = hash_file(fd, file.identity.bytes, shown(file), sink, options_.hashing, git_sha1(file));
  Status kept = hashed ? check_unchanged(fd, file) : Status{};
  if (hashed && kept) kept = work.keep_tree(number, part.get(), hashed->fsverity);
  if (!hashed || !kept) work.drop_part(number);
  if (!kept) return fail(std::move(kept).error());
  return hashed;
}

Result<HashedFile> FileSealer::hash_and_compare(int fd, const ScannedFile& file, bool& tree_differs) const {
  const auto before = options_.sealed_before ? options_.sealed_before(file.path) : std::nullopt;
  if (!before || file.identity.bytes <= kBlockBytes) return hash_file(fd, file.identity.bytes, shown(file), {}, options_.hashing, git_sha1(file));
  const std::string name = seal::tree_path(*before);
  const auto tree = open_at(options_.compare_with, name, O_RDONLY | O_NONBLOCK, name);
  tree_differs = !tree;
  const merkle::TreeSink sink = [&](std::uint64_t tree_block, std::span<const std::uint8_t> bytes) -> Status {
    std::array<std::uint8_t, kBlockBytes> stored;
    if (tree_differs) return {};
    const auto got = read_full(tree->get(), tree_block * kBlockBytes, stored, name);
    tree_differs = !got || *got != stored.size() || !std::equal(stored.begin(), stored.end(), bytes.begin());
    return {};
  };
  return hash_file(fd, file.identity.bytes, shown(file), sink, options_.hashing, git_sha1(file));
}

Result<HashedFile> FileSealer::hash(int fd, const ScannedFile& file, std::size_t number, SealedFile& sealed) const {
  if (options_.work == nullptr) return hash_and_compare(fd, file, sealed.tree_differs);
  if (const auto known = options_.work->take_over(file, *options_.hashing.engine, git_sha1(file))) {
    sealed.resumed = true;
    options_.hashing.bytes_done->fetch_add(file.identity.bytes, std::memory_order_relaxed);
    return *known;
  }
  const std::int64_t started = now_ns();
  VOUCHFS_ASSIGN(const HashedFile hashed, hash_into_work(fd, file, number));
  VOUCHFS_TRY(check_unchanged(fd, file));
  VOUCHFS_TRY(options_.work->record(file, hashed, started));
  return hashed;
}

Result<SealedFile> FileSealer::seal(const ScannedFile& file, std::size_t number) const {
  SealedFile sealed;
  VOUCHFS_ASSIGN(const UniqueFd fd, open_unchanged(file));
  VOUCHFS_ASSIGN(const HashedFile hashed, hash(fd.get(), file, number, sealed));
  VOUCHFS_TRY(read_structure(fd.get(), file, sealed));
  VOUCHFS_TRY(check_unchanged(fd.get(), file));
  sealed.entry = {file.path, file.identity.bytes, hashed.fsverity, hashed.sha256};
  sealed.git_sha1 = hashed.git_sha1;
  return sealed;
}

Result<SealedFile> FileSealer::inspect(const ScannedFile& file) const {
  SealedFile sealed;
  sealed.entry.path = file.path;
  sealed.entry.bytes = file.identity.bytes;
  const bool structured = is_weight_file(file.path) || formats::index_family_of(file_name_of(file.path));
  if (!structured) return sealed;
  VOUCHFS_ASSIGN(const UniqueFd fd, open_unchanged(file));
  VOUCHFS_TRY(read_structure(fd.get(), file, sealed));
  return sealed;
}

}  // namespace vouchfs::ingest
