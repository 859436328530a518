// CRC-32 of the records of a torch archive. torch never compares them, so this is the only look at them there is.
// A writer told not to compute them leaves 0 in every record (torch.serialization.set_crc32_options): then there is nothing to compare.
#include <algorithm>
#include <cstdio>

#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/deep_watch.h"
#include "formats/crc32.h"

namespace vouchfs::doctor {
namespace {

std::string hex_text(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", value);
  return text;
}

// Records that can be followed, by place. One that begins inside another is no record that torch wrote.
std::vector<const formats::TorchRecord*> records_in_order(const formats::TorchFile& torch, std::uint64_t file_bytes) {
  std::vector<const formats::TorchRecord*> records;
  for (const formats::TorchRecord& record : torch.records)
    if (record.usable && record.stored && record.begin <= file_bytes && record.bytes <= file_bytes - record.begin) records.push_back(&record);
  std::sort(records.begin(), records.end(), [](const auto* a, const auto* b) { return a->begin < b->begin; });
  std::uint64_t end = 0;
  std::vector<const formats::TorchRecord*> kept;
  for (const auto* record : records) {
    if (record->begin < end) continue;
    end = record->begin + record->bytes;
    kept.push_back(record);
  }
  return kept;
}

}  // namespace

struct RecordWatch::State {
  const FileFacts& file;
  std::vector<const formats::TorchRecord*> records;
  std::size_t next = 0;
  formats::Crc32 crc;
  std::vector<BadPlace> bad;

  void judge() {
    const formats::TorchRecord& record = *records[next++];
    if (crc.value() != record.crc32) {
      BadPlace place{{record.begin, record.bytes}, {}, {}};
      if (const auto* tensors = file.tensors()) place.tensors = tensors_within(*tensors, record.begin, record.begin + record.bytes);
      place.text = "the CRC-32 of record " + printable(record.name) + " is " + hex_text(crc.value()) + ", the archive says " + hex_text(record.crc32);
      bad.push_back(std::move(place));
    }
    crc = {};
  }
};

RecordWatch::RecordWatch(const FileFacts& file) : state_(std::make_unique<State>(State{file, {}, 0, {}, {}})) {
  if (file.torch && file.torch->form == formats::TorchForm::zip && file.torch->checksums) state_->records = records_in_order(*file.torch, file.bytes);
}
RecordWatch::~RecordWatch() = default;

void RecordWatch::take(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
  const std::uint64_t end = offset + bytes.size();
  while (state_->next < state_->records.size()) {
    const formats::TorchRecord& record = *state_->records[state_->next];
    if (record.begin >= end) return;
    const std::uint64_t from = std::max(record.begin, offset);
    const std::uint64_t to = std::min(record.begin + record.bytes, end);
    if (to > from) state_->crc.add(bytes.subspan(static_cast<std::size_t>(from - offset), static_cast<std::size_t>(to - from)));
    if (record.begin + record.bytes > end) return;
    state_->judge();
  }
}

std::vector<BadPlace> RecordWatch::finish() { return std::move(state_->bad); }

}  // namespace vouchfs::doctor
