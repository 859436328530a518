#include "fs/pinner.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory_room.h"
#include "base/threads.h"
#include "fs/sealed_memory.h"
#include "view/pin_fill.h"
#include "view/sealed_model.h"

namespace vouchfs::fs {

Pinner::Pinner(PinnedFiles& files, std::shared_ptr<view::PinProgress> progress, PinKernel kernel, std::size_t most_descriptors)
    : files_(files), progress_(std::move(progress)), kernel_(std::move(kernel)), keep_memory_(files.files().size() <= most_descriptors) {}

Pinner::~Pinner() {
  cancel_.request();
  for (std::thread& thread : threads_) thread.join();
}

void Pinner::start() {
  ended_ = false;
  threads_ = start_threads(1, body_);
  if (!threads_.empty()) return;
  ended_ = true;
  log::warning("--pin has no effect: the system starts no thread for it");
  progress_->leave(0, "the system starts no thread for it");
  progress_->finish();
}

bool Pinner::stop(std::chrono::milliseconds patience) {
  cancel_.request();
  std::unique_lock lock(mutex_);
  return ended_changed_.wait_for(lock, patience, [this] { return ended_; });
}

void Pinner::run() {
  for (PinnedFile& file : files_.files()) {
    if (cancel_.requested()) break;
    const Status pinned = pin(file);
    if (!pinned && cancel_.requested()) break;
    if (!pinned) leave(file, file.filled(), pinned.error());
  }
  if (!cancel_.requested()) {
    progress_->finish();
    const view::PinFacts facts = progress_->snapshot();
    log::info("pinned " + std::to_string(facts.pinned_files) + " of " + std::to_string(facts.matching_files) + " files, " + format_bytes(facts.pinned_bytes));
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  ended_changed_.notify_all();
}

void Pinner::leave(PinnedFile& file, std::uint64_t filled, const Error& why) {
  file.give_up();
  const std::string text = file.item().path + " is not pinned: " + why.describe();
  if (progress_->leave(filled, text)) log::warning("--pin: " + text + "; it is served as without --pin");
}

namespace {

// A file that does not fit would be answered with somebody's death.
Status check_room(const view::PinItem& item) {
  const auto room = memory_room();
  if (!room || *room >= item.node->bytes) return {};
  return fail(ErrorCode::other, "only " + format_bytes(*room) + " of memory are left for its " + format_bytes(item.node->bytes));
}

}  // namespace

Status Pinner::pin(PinnedFile& file) {
  const view::Node& node = *file.item().node;
  auto backing = pin_source(file);
  if (backing) progress_->fill(node.bytes);
  if (!backing) backing = pin_memory(file);
  if (!backing) return fail(std::move(backing).error());
  file.publish(*backing);
  if (!keep_memory_) file.give_up();  // the kernel has it
  progress_->pin(node.bytes);
  kernel_.forget_name(node.parent, node.name);
  return {};
}

Result<BackingId> Pinner::pin_source(const PinnedFile& file) const {
  const view::Node& node = *file.item().node;
  VOUCHFS_ASSIGN(const UniqueFd source, node.model->file(node.file_index).source().open_file());
  if (!kernel_verifies(kernel_.ask_verity(source.get()), node.fsverity)) return fail(ErrorCode::unsupported, "is not verified by the kernel", node.name);
  return kernel_.open_backing(source.get());
}

Result<BackingId> Pinner::pin_memory(PinnedFile& file) {
  const view::PinItem& item = file.item();
  VOUCHFS_TRY(check_room(item));
  VOUCHFS_ASSIGN(UniqueFd made, make_memory(item.path));
  const auto memory = std::make_shared<const UniqueFd>(std::move(made));
  file.begin(memory);
  VOUCHFS_TRY(fill(file, memory->get()));
  VOUCHFS_TRY(seal_memory(memory->get(), item.node->bytes));
  return kernel_.open_backing(memory->get());
}

Status Pinner::fill(PinnedFile& file, int memory) {
  std::uint64_t at = 0;
  const auto append = [&](std::span<const std::uint8_t> bytes) -> Status {
    VOUCHFS_TRY(write_full(memory, at, bytes, file.item().path));
    at += bytes.size();
    file.note_filled(at);
    progress_->fill(bytes.size());
    return {};
  };
  return view::fill_pinned(*file.item().node, append, cancel_);
}

}  // namespace vouchfs::fs
