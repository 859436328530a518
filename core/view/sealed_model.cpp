#include "view/sealed_model.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <unordered_map>

#include "source/posix_source.h"
#include "verify/known_bad.h"
#include "verify/neighbour_windows.h"
#include "view/read_events.h"

namespace vouchfs::view {
namespace {

using verify::BadBlock;
using Clock = verify::KnownBadTable::Clock;

constexpr std::size_t kRequestBytes = (1U << 20) + 2 * kBlockBytes;  // the largest FUSE read, unaligned at both ends
constexpr std::size_t kKeptBuffers = 32;
constexpr std::uint64_t kLeastReadAhead = 2ULL << 20;  // smaller files are read before a stream in them is recognized
constexpr std::uint64_t kRecheckBlocks = 256;          // blocks read at once when known-bad ones are looked at again

std::string base_name(const std::string& path) {
  const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  return normal.has_filename() ? normal.filename().string() : normal.parent_path().filename().string();
}

// Where the bytes of a file lie, relative to the model's folder. The seal alone decides: in a store of blobs each is found by its digest; older stores
// write a colon in the name.
std::string source_path(const seal::ManifestFile& file, bool by_digest, const source::SourceRoot& root) {
  if (!by_digest) return file.path;
  const std::string hex = hash::to_hex(file.sha256);
  const std::string usual = "sha256-" + hex;
  const std::string older = "sha256:" + hex;
  return !root.holds(usual) && root.holds(older) ? older : usual;
}

std::string absolute(const std::string& path) {
  std::error_code failed;
  const auto resolved = std::filesystem::canonical(path, failed);
  return failed ? path : resolved.string();
}

}  // namespace

Runtime::Runtime(std::shared_ptr<const hash::Sha256Engine> engine_in, std::uint64_t tree_cache_bytes)
    : engine(std::move(engine_in)),
      tree_cache(tree_cache_bytes),
      buffers(kRequestBytes, kKeptBuffers),
      handles(std::make_shared<source::HandlePool>(source::HandlePool::usual_capacity())),
      read_ahead(verify::ReadAhead::Limits{}) {}

const char* to_string(FileState state) noexcept {
  switch (state) {
    case FileState::ok: return "ok";
    case FileState::bad: return "bad";
    case FileState::repaired: return "repaired";
  }
  return "ok";
}

struct SealedModel::Impl {
  struct File {
    std::unique_ptr<verify::VerifiedFile> verified;
    const seal::TableFile* table = nullptr;
    const seal::FileFix* fix = nullptr;  // how it is shown, when otherwise than sealed
    verify::KnownBadTable known_bad;
    std::once_flag ahead_made;
    std::unique_ptr<verify::ReadAhead::File> ahead;  // made by the first reader; null for a file too small to be worth it
  };

  Impl(ModelOptions options_in, Runtime& runtime_in, seal::OpenedSeal seal_in)
      : options(std::move(options_in)), runtime(runtime_in), seal(std::move(seal_in)), files(seal.manifest.files.size()) {}

  ModelOptions options;
  Runtime& runtime;
  seal::OpenedSeal seal;
  std::vector<File> files;
  std::unordered_map<std::string, std::size_t> by_path;
  verify::NeighbourWindows windows;

  const std::string& path_of(std::size_t index) const { return seal.manifest.files[index].path; }

  EventSubject subject(std::size_t index) const {
    const File& file = files[index];
    return {&options.name, &path_of(index), file.verified->bytes(), file.table, file.verified->source().name()};
  }

  void connect(const std::shared_ptr<const source::SourceRoot>& data, const std::shared_ptr<const source::SourceRoot>& trees, std::uint64_t first_key);
  Result<std::span<const std::uint8_t>> read_sealed(std::size_t index, std::uint64_t offset, std::size_t length, AlignedBuffer& buffer, const Caller& caller);
  Result<std::span<const std::uint8_t>> read_mended(std::size_t index, std::uint64_t offset, std::size_t length, AlignedBuffer& buffer, const Caller& caller);
  std::uint64_t shown_bytes(std::size_t index) const { return files[index].fix != nullptr ? files[index].fix->bytes : files[index].verified->bytes(); }
  std::optional<BadBlock> still_held(std::size_t index, std::uint64_t first, std::uint64_t count) const;
  bool serve_neighbours(std::size_t index, std::uint64_t first, std::span<std::uint8_t> dst) const;
  void note_transient(std::size_t index, const verify::RangeOutcome& outcome, const Caller& caller);
  void note_bad(std::size_t index, const verify::RangeOutcome& outcome, const Caller& caller);
  Status read_range(std::size_t index, std::uint64_t first, std::span<std::uint8_t> dst, const Caller& caller);
  Status refuse(std::size_t index, const BadBlock& bad);
  bool forget_restored(std::size_t index);
  verify::ReadAhead::File* ahead_of(std::size_t index);
  bool fetch_ahead(std::size_t index, std::uint64_t first, std::span<std::uint8_t> dst);
  std::optional<std::uint64_t> sealed_offset(std::size_t index, std::uint64_t offset, std::size_t length) const;
  std::optional<verify::ByteParts> read_ahead(std::size_t index, std::uint64_t offset, std::size_t length);
};

void SealedModel::Impl::connect(const std::shared_ptr<const source::SourceRoot>& data, const std::shared_ptr<const source::SourceRoot>& trees,
                                std::uint64_t first_key) {
  std::unordered_map<std::string, const seal::TableFile*> tables;
  for (const seal::TableFile& table : seal.table.files) tables.emplace(table.path, &table);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const seal::ManifestFile& sealed = seal.manifest.files[i];
    auto source = std::make_shared<source::PosixSource>(data, source_path(sealed, options.by_digest, *data), "model", runtime.handles);
    std::shared_ptr<source::BlockSource> tree;
    if (sealed.bytes > kBlockBytes) tree = std::make_shared<source::PosixSource>(trees, seal::tree_path(sealed.fsverity), "tree", runtime.handles);
    files[i].verified = std::make_unique<verify::VerifiedFile>(sealed.bytes, sealed.fsverity, std::move(source), std::move(tree), runtime.engine, first_key + i,
                                                               runtime.tree_cache, runtime.counters);
    const auto table = tables.find(sealed.path);
    if (table != tables.end()) files[i].table = table->second;
    files[i].fix = seal::find_fix(seal.table, sealed.path);
    by_path.emplace(sealed.path, i);
  }
}

SealedModel::SealedModel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SealedModel::~SealedModel() {
  for (Impl::File& file : impl_->files)
    if (file.ahead) impl_->runtime.read_ahead.forget(*file.ahead);
}

Result<std::unique_ptr<SealedModel>> SealedModel::open(ModelOptions options, Runtime& runtime) {
  VOUCHFS_ASSIGN(auto data, source::SourceRoot::open(options.model_dir, !options.mounted_over));
  options.model_dir = absolute(options.model_dir);
  const std::string seal_dir = absolute(seal::seal_path(options.model_dir, options.seal_dir));
  options.seal_dir = seal_dir;
  if (options.name.empty()) options.name = base_name(options.model_dir);
  VOUCHFS_ASSIGN(seal::OpenedSeal opened, seal::open_seal(seal_dir, options.digest, *runtime.engine));
  VOUCHFS_ASSIGN(auto trees, source::SourceRoot::open(seal_dir, !options.mounted_over));
  auto impl = std::make_unique<Impl>(std::move(options), runtime, std::move(opened));
  impl->connect(data, trees, runtime.take_file_keys(impl->files.size()));
  return std::unique_ptr<SealedModel>(new SealedModel(std::move(impl)));
}

const std::string& SealedModel::name() const noexcept { return impl_->options.name; }
const ModelOptions& SealedModel::options() const noexcept { return impl_->options; }
const seal::OpenedSeal& SealedModel::seal() const noexcept { return impl_->seal; }
Runtime& SealedModel::runtime() const noexcept { return impl_->runtime; }
const verify::VerifiedFile& SealedModel::file(std::size_t index) const { return *impl_->files.at(index).verified; }

std::optional<std::size_t> SealedModel::find(const std::string& path) const {
  const auto found = impl_->by_path.find(path);
  return found == impl_->by_path.end() ? std::nullopt : std::optional(found->second);
}

// --- reading --------------------------------------------------------------------------------------------------------------

Result<std::span<const std::uint8_t>> SealedModel::read(std::size_t index, std::uint64_t offset, std::size_t length, AlignedBuffer& buffer,
                                                        const Caller& caller) {
  const bool mended = impl_->files.at(index).fix != nullptr;
  const std::uint64_t size = impl_->shown_bytes(index);
  if (offset >= size || length == 0) return std::span<const std::uint8_t>();
  length = static_cast<std::size_t>(std::min<std::uint64_t>(length, size - offset));
  VOUCHFS_ASSIGN(const auto bytes,
                 mended ? impl_->read_mended(index, offset, length, buffer, caller) : impl_->read_sealed(index, offset, length, buffer, caller));
  impl_->runtime.counters.bytes_served.fetch_add(length, std::memory_order_relaxed);
  return bytes;
}

Result<verify::ByteParts> SealedModel::serve(std::size_t index, std::uint64_t offset, std::size_t length, AlignedBuffer& buffer, const Caller& caller) {
  const std::uint64_t size = impl_->shown_bytes(index);
  const auto within = static_cast<std::size_t>(std::min<std::uint64_t>(length, size - std::min(offset, size)));
  if (auto ready = impl_->read_ahead(index, offset, within)) {
    impl_->runtime.counters.bytes_served.fetch_add(within, std::memory_order_relaxed);
    return std::move(*ready);
  }
  VOUCHFS_ASSIGN(const auto bytes, read(index, offset, length, buffer, caller));
  verify::ByteParts parts;
  parts.add(bytes, nullptr);
  return parts;
}

// Where a range of the shown file lies in the sealed one, when it lies there in one piece.
std::optional<std::uint64_t> SealedModel::Impl::sealed_offset(std::size_t index, std::uint64_t offset, std::size_t length) const {
  if (files[index].fix == nullptr) return offset;
  std::uint64_t at = 0;
  for (const seal::FixPiece& piece : files[index].fix->pieces) {
    if (offset >= at && offset + length <= at + piece.bytes()) return piece.literal.empty() ? std::optional(piece.begin + (offset - at)) : std::nullopt;
    at += piece.bytes();
  }
  return std::nullopt;
}

// A file with known-bad blocks is left to the reader itself, who finds out block by block.
std::optional<verify::ByteParts> SealedModel::Impl::read_ahead(std::size_t index, std::uint64_t offset, std::size_t length) {
  if (length == 0 || files[index].known_bad.any()) return std::nullopt;
  const auto at = sealed_offset(index, offset, length);
  verify::ReadAhead::File* const ahead = at ? ahead_of(index) : nullptr;
  if (ahead == nullptr) return std::nullopt;
  return runtime.read_ahead.read(*ahead, *at, length);
}

verify::ReadAhead::File* SealedModel::Impl::ahead_of(std::size_t index) {
  File& file = files[index];
  if (file.verified->bytes() < kLeastReadAhead) return nullptr;
  std::call_once(file.ahead_made, [&] {
    std::vector<verify::Extent> tensors;
    if (file.table != nullptr)
      for (const formats::Tensor& tensor : file.table->tensors) tensors.push_back({tensor.begin, tensor.end});
    file.ahead = std::make_unique<verify::ReadAhead::File>(
        file.verified->bytes(), std::move(tensors), [this, index](std::uint64_t first, std::span<std::uint8_t> dst) { return fetch_ahead(index, first, dst); });
  });
  return file.ahead.get();
}

bool SealedModel::Impl::fetch_ahead(std::size_t index, std::uint64_t first, std::span<std::uint8_t> dst) {
  const verify::RangeOutcome outcome = files[index].verified->read_blocks(first, dst);
  note_transient(index, outcome, Caller{});
  return outcome.all_good();
}

// A range within the sealed file, every block of it verified.
Result<std::span<const std::uint8_t>> SealedModel::Impl::read_sealed(std::size_t index, std::uint64_t offset, std::size_t length, AlignedBuffer& buffer,
                                                                     const Caller& caller) {
  const std::uint64_t first = offset / kBlockBytes;
  const std::size_t lead = static_cast<std::size_t>(offset % kBlockBytes);
  const std::size_t span = static_cast<std::size_t>(blocks_for(lead + length)) * kBlockBytes;
  if (buffer.size() < span) buffer = AlignedBuffer(span);
  VOUCHFS_TRY(read_range(index, first, buffer.span().first(span), caller));
  return std::span<const std::uint8_t>(buffer.data() + lead, length);
}

// A range within the shown file. Nearly every request lies in one run of sealed bytes and is answered from the buffer that was hashed;
// only where pieces meet bytes are copied together.
Result<std::span<const std::uint8_t>> SealedModel::Impl::read_mended(std::size_t index, std::uint64_t offset, std::size_t length, AlignedBuffer& buffer,
                                                                     const Caller& caller) {
  const std::uint64_t end = offset + length;
  std::uint64_t at = 0;  // where the piece begins in the shown file
  std::optional<BufferPool::Lease> scratch;
  for (const seal::FixPiece& piece : files[index].fix->pieces) {
    const std::uint64_t from = std::max(offset, at);
    const std::uint64_t to = std::min(end, at + piece.bytes());
    const std::uint64_t inside = from - at;
    at += piece.bytes();
    if (from >= to) continue;
    const auto count = static_cast<std::size_t>(to - from);
    if (piece.literal.empty() && count == length) return read_sealed(index, piece.begin + inside, length, buffer, caller);
    if (buffer.size() < length) buffer = AlignedBuffer(length);
    std::uint8_t* const into = buffer.data() + (from - offset);
    if (!piece.literal.empty()) {
      std::memcpy(into, piece.literal.data() + inside, count);
      continue;
    }
    if (!scratch) scratch.emplace(runtime.buffers.lease(kRequestBytes));
    VOUCHFS_ASSIGN(const auto bytes, read_sealed(index, piece.begin + inside, count, **scratch, caller));
    std::memcpy(into, bytes.data(), count);
  }
  return std::span<const std::uint8_t>(buffer.data(), length);
}

Status SealedModel::Impl::read_range(std::size_t index, std::uint64_t first, std::span<std::uint8_t> dst, const Caller& caller) {
  File& file = files[index];
  const std::uint64_t count = dst.size() / kBlockBytes;
  const bool troubled = file.known_bad.any();
  if (troubled) {
    if (const auto bad = still_held(index, first, count)) {
      runtime.events.record(bad_block_event(subject(index), *bad, caller));
      return refuse(index, *bad);
    }
    if (serve_neighbours(index, first, dst)) return {};
  }
  const verify::RangeOutcome outcome = file.verified->read_blocks(first, dst);
  note_transient(index, outcome, caller);
  if (outcome.all_good()) {
    if (troubled) file.known_bad.erase(first, count);
    return {};
  }
  note_bad(index, outcome, caller);
  if (count > 1) windows.keep(index, first, dst, outcome.bad);
  return refuse(index, outcome.bad.front());
}

// A known-bad block of the range that need not be read again: it failed within the last second and the source was not touched since.
// A window whose neighbours are not at hand is read all the same, so that the page-wise retries that follow find them.
std::optional<BadBlock> SealedModel::Impl::still_held(std::size_t index, std::uint64_t first, std::uint64_t count) const {
  const File& file = files[index];
  const auto held = file.known_bad.find(first, count, Clock::now());
  if (!held || !held->stamp) return std::nullopt;
  if (count > 1 && !windows.covers(index, first, count)) return std::nullopt;
  const auto now = file.verified->source().stamp();
  return now && *now == *held->stamp ? std::optional(held->bad) : std::nullopt;
}

bool SealedModel::Impl::serve_neighbours(std::size_t index, std::uint64_t first, std::span<std::uint8_t> dst) const {
  if (!windows.copy(index, first, dst)) return false;
  runtime.counters.neighbour_hits.fetch_add(dst.size() / kBlockBytes, std::memory_order_relaxed);
  return true;
}

void SealedModel::Impl::note_bad(std::size_t index, const verify::RangeOutcome& outcome, const Caller& caller) {
  File& file = files[index];
  const auto stamp = file.verified->source().stamp();
  const std::optional<source::Stamp> kept = stamp ? std::optional(*stamp) : std::nullopt;
  const auto now = Clock::now();
  std::set<std::uint64_t> trees_told;  // one event a damaged tree block and request, not one a data block below it
  for (const BadBlock& bad : outcome.bad) {
    file.known_bad.insert(bad, kept, now);
    runtime.counters.corrupt_blocks.fetch_add(1, std::memory_order_relaxed);
    if (bad.kind == verify::BadKind::tree && !trees_told.insert(bad.tree_block).second) continue;
    runtime.events.record(bad_block_event(subject(index), bad, caller));
  }
}

void SealedModel::Impl::note_transient(std::size_t index, const verify::RangeOutcome& outcome, const Caller& caller) {
  for (const std::uint64_t block : outcome.transient) {
    runtime.counters.transient.fetch_add(1, std::memory_order_relaxed);
    runtime.events.record(transient_event(subject(index), block, caller));
  }
}

Status SealedModel::Impl::refuse(std::size_t index, const BadBlock& bad) {
  runtime.counters.failed_reads.fetch_add(1, std::memory_order_relaxed);
  return fail(read_error(subject(index), bad));
}

// --- opening and state ----------------------------------------------------------------------------------------------------

// Reads the known-bad blocks of a file again until one is still bad. True when none is.
bool SealedModel::Impl::forget_restored(std::size_t index) {
  File& file = files[index];
  const std::vector<std::uint64_t> blocks = file.known_bad.blocks();
  auto lease = runtime.buffers.lease(kRecheckBlocks * kBlockBytes);
  for (std::size_t i = 0; i < blocks.size();) {
    std::size_t end = i + 1;
    while (end < blocks.size() && blocks[end] == blocks[end - 1] + 1 && end - i < kRecheckBlocks) ++end;
    const auto outcome = file.verified->read_blocks(blocks[i], lease->span().first((end - i) * kBlockBytes), source::Freshness::past_cache);
    if (!outcome.all_good()) return false;
    file.known_bad.erase(blocks[i], end - i);
    i = end;
  }
  return true;
}

Status SealedModel::check_open(std::size_t index, const Caller& caller) {
  Impl::File& file = impl_->files.at(index);
  if (!file.known_bad.any() || impl_->options.policy == KnownBadPolicy::serve) return {};
  if (impl_->forget_restored(index)) return {};
  impl_->runtime.counters.refused_opens.fetch_add(1, std::memory_order_relaxed);
  impl_->runtime.events.record(open_refused_event(impl_->subject(index), file.known_bad.blocks(), caller));
  return fail(ErrorCode::corrupt, "has known-bad blocks", impl_->path_of(index),
              "see .vouch/events.jsonl; put the file right or mount with --on-known-bad=serve");
}

FileState SealedModel::state(std::size_t index) const { return impl_->files.at(index).known_bad.any() ? FileState::bad : FileState::ok; }

std::uint64_t SealedModel::known_bad_count(std::size_t index) const { return impl_->files.at(index).known_bad.count(); }

std::vector<KnownBadBlock> SealedModel::known_bad(std::size_t limit) const {
  std::vector<KnownBadBlock> out;
  for (std::size_t i = 0; i < impl_->files.size(); ++i) {
    const Impl::File& file = impl_->files[i];
    if (!file.known_bad.any()) continue;
    for (const std::uint64_t block : file.known_bad.blocks()) {
      if (out.size() >= limit) return out;
      std::vector<std::string> tensors;
      if (file.table != nullptr) tensors = seal::tensors_in(*file.table, block * kBlockBytes, kBlockBytes);
      out.push_back({impl_->path_of(i), block, std::move(tensors)});
    }
  }
  return out;
}

}  // namespace vouchfs::view
