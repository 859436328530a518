#include "formats/gguf_stream.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace vouchfs::formats {

// Reads the piece that begins at at_. Requires: at_ < end_.
bool GgufStream::fill() {
  piece_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, left())));
  piece_begin_ = at_;
  auto got = read_(at_, piece_);
  if (!got) {
    error_ = std::move(got).error();
  } else if (*got != piece_.size()) {
    error_ = make_error(ErrorCode::truncated, "the file ended while its header was read");
    error_->where.offset = at_ + *got;
  }
  if (error_) piece_.clear();
  return !error_;
}

bool GgufStream::take(std::span<std::uint8_t> dst) {
  if (error_ || dst.size() > left()) return false;
  while (!dst.empty()) {
    const bool inside = at_ >= piece_begin_ && at_ - piece_begin_ < piece_.size();
    if (!inside && !fill()) return false;
    const std::size_t from = static_cast<std::size_t>(at_ - piece_begin_);
    const std::size_t count = std::min(dst.size(), piece_.size() - from);
    std::memcpy(dst.data(), piece_.data() + from, count);
    dst = dst.subspan(count);
    at_ += count;
  }
  return true;
}

bool GgufStream::take_little_endian(std::size_t bytes, std::uint64_t& value) {
  std::array<std::uint8_t, 8> raw{};
  if (!take({raw.data(), bytes})) return false;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8 | raw[i];
  return true;
}

bool GgufStream::text(std::uint64_t bytes, std::string& into) {
  if (error_ || bytes > left()) return false;
  into.resize(static_cast<std::size_t>(bytes));
  return take({reinterpret_cast<std::uint8_t*>(into.data()), into.size()});
}

bool GgufStream::skip(std::uint64_t bytes) {
  if (error_ || bytes > left()) return false;
  at_ += bytes;
  return true;
}

}  // namespace vouchfs::formats
