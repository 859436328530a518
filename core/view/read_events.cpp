#include "view/read_events.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace vouchfs::view {
namespace {

using verify::BadBlock;
using verify::BadKind;

// An event that cuts a hundred thousand tensors names the first of them and says how many more there are.
constexpr std::size_t kMostTensors = 1000;

std::string outcome_of(const BadBlock& bad) {
  switch (bad.kind) {
    case BadKind::corrupt: return "mismatch";
    case BadKind::truncated: return "ends at byte " + std::to_string(bad.source_bytes);
    case BadKind::source_error: return std::string("failed: ") + std::strerror(bad.sys_errno);
    case BadKind::tree: return "cannot be judged";
  }
  return "mismatch";
}

const char* name_of(BadKind kind) {
  switch (kind) {
    case BadKind::tree: return "corrupt_tree";
    case BadKind::source_error: return "source_error";
    default: return "corrupt_block";
  }
}

void set_place(observe::Event& event, const EventSubject& subject, std::uint64_t block, std::uint64_t blocks) {
  const std::uint64_t offset = block * kBlockBytes;
  event.block = block;
  event.offset = offset;
  event.length = std::min(blocks * kBlockBytes, subject.file_bytes - std::min(offset, subject.file_bytes));
  if (subject.table != nullptr) event.tensors = seal::tensors_in(*subject.table, offset, *event.length);
  if (event.tensors.size() <= kMostTensors) return;
  event.detail += (event.detail.empty() ? "" : "; ") + std::to_string(event.tensors.size() - kMostTensors) + " more tensors";
  event.tensors.resize(kMostTensors);
}

observe::Event start(const char* name, const EventSubject& subject, const Caller& caller) {
  observe::Event event;
  event.event = name;
  event.model = *subject.model;
  event.file = *subject.file;
  event.pid = caller.pid;
  event.uid = caller.uid;
  return event;
}

}  // namespace

observe::Event bad_block_event(const EventSubject& subject, const BadBlock& bad, const Caller& caller) {
  observe::Event event = start(name_of(bad.kind), subject, caller);
  event.detail = bad.detail;
  if (bad.kind == BadKind::tree) {
    // One damaged tree block takes every data block below it: the event is about all of them.
    std::uint64_t below = merkle::kArity;
    for (unsigned level = 0; level < bad.tree_level; ++level) below *= merkle::kArity;
    event.tree_level = bad.tree_level;
    event.tree_block = bad.tree_block;
    set_place(event, subject, bad.block / below * below, below);
  } else {
    set_place(event, subject, bad.block, 1);
  }
  if (bad.has_expected) event.expected = hash::to_hex(bad.expected);
  if (bad.has_actual) event.actual = hash::to_hex(bad.actual);
  event.sources.push_back({subject.source, outcome_of(bad)});
  event.result = "eio";
  return event;
}

observe::Event transient_event(const EventSubject& subject, std::uint64_t block, const Caller& caller) {
  observe::Event event = start("transient_mismatch", subject, caller);
  set_place(event, subject, block, 1);
  event.sources = {{subject.source, "mismatch"}, {subject.source + " past the cache", "ok"}};
  event.result = "served";
  return event;
}

observe::Event open_refused_event(const EventSubject& subject, const std::vector<std::uint64_t>& blocks, const Caller& caller) {
  observe::Event event = start("open_refused", subject, caller);
  if (!blocks.empty()) set_place(event, subject, blocks.front(), 1);
  event.detail = std::to_string(blocks.size()) + " known-bad blocks";
  event.result = "eio";
  return event;
}

Error read_error(const EventSubject& subject, const BadBlock& bad) {
  const bool from_io = bad.kind == BadKind::source_error;
  Error error = make_error(from_io ? ErrorCode::io : bad.kind == BadKind::truncated ? ErrorCode::truncated : ErrorCode::corrupt,
                           bad.detail.empty() ? "a block does not hash to what the seal says" : bad.detail, *subject.file);
  error.sys_errno = from_io ? bad.sys_errno : 0;
  error.where.offset = bad.block * kBlockBytes;
  error.where.length = bytes_in_block(subject.file_bytes, bad.block);
  return error;
}

}  // namespace vouchfs::view
