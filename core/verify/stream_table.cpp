#include "verify/stream_table.h"

#include <algorithm>

namespace vouchfs::verify {

StreamTable::Stream* StreamTable::find(Extent asked) {
  Stream* best = nullptr;
  for (Stream& stream : streams_) {
    if (stream.id == 0) continue;
    const bool begins_near = asked.begin + kDisorder >= stream.position && asked.begin <= std::max(stream.ahead, stream.position);
    if (begins_near && (best == nullptr || stream.position > best->position)) best = &stream;
  }
  return best;
}

StreamTable::Stream& StreamTable::start(Extent asked) {
  Stream& stream = *std::min_element(streams_.begin(), streams_.end(), [](const Stream& a, const Stream& b) { return a.used < b.used; });
  stream = Stream{.id = next_id_++, .position = asked.end, .ahead = asked.end, .window = kFirstWindow, .runs = 0, .used = tick_};
  return stream;
}

bool StreamTable::begins_tensor(Extent asked) const {
  if (asked.end - asked.begin < kLeastHint) return false;
  const auto tensor = std::lower_bound(tensors_.begin(), tensors_.end(), asked.begin, [](const Extent& t, std::uint64_t at) { return t.begin < at; });
  return tensor != tensors_.end() && tensor->begin < asked.end && tensor->end - tensor->begin >= kLeastTensor;
}

std::optional<StreamTable::Plan> StreamTable::extend(Stream& stream) {
  const std::uint64_t end = std::min(stream.position + stream.window, file_bytes_);
  // Plans are made half a window at a time, so that the fetchers get pieces worth a read.
  if (end <= stream.ahead || (stream.ahead > stream.position + stream.window / 2 && end != file_bytes_)) return std::nullopt;
  const Extent ahead{stream.position, end};
  stream.ahead = end;
  stream.window = std::min(2 * stream.window, kWidestWindow);
  return Plan{ahead, stream.id};
}

std::optional<StreamTable::Plan> StreamTable::observe(Extent asked) {
  ++tick_;
  Stream* stream = find(asked);
  if (stream == nullptr) {
    Stream& fresh = start(asked);
    if (!begins_tensor(asked)) return std::nullopt;
    return extend(fresh);
  }
  stream->used = tick_;
  if (asked.end <= stream->position) return std::nullopt;  // it came late, or goes over old ground
  stream->position = asked.end;
  stream->ahead = std::max(stream->ahead, stream->position);
  ++stream->runs;
  if (stream->runs < kRunsOfAStream && stream->window == kFirstWindow && !begins_tensor(asked)) return std::nullopt;
  return extend(*stream);
}

}  // namespace vouchfs::verify
