// gguf_writer.h: GGUF files in memory, good ones and ones broken on purpose. Sizes are its own arithmetic, from a table of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vouchfs::tests {

enum GgufValue : std::uint32_t { gguf_u8, gguf_i8, gguf_u16, gguf_i16, gguf_u32, gguf_i32, gguf_f32, gguf_bool, gguf_string, gguf_array, gguf_u64, gguf_i64, gguf_f64 };

inline std::string little_endian(std::uint64_t value, unsigned bytes) {
  std::string out;
  for (unsigned i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
  return out;
}
inline std::string gguf_text(std::string_view text) { return little_endian(text.size(), 8) + std::string(text); }

class GgufWriter {
 public:
  std::string magic = "GGUF";
  std::uint32_t version = 3;
  std::uint64_t alignment = 32;  // of the file as written; say it with key_u32("general.alignment", …) too
  std::optional<std::uint64_t> claimed_tensors;
  std::optional<std::uint64_t> claimed_keys;
  bool end_padding = true;

  // A key with its value as raw bytes behind the type.
  GgufWriter& key(std::string_view name, std::uint32_t type, const std::string& raw) {
    keys_ += gguf_text(name) + little_endian(type, 4) + raw;
    ++key_count_;
    return *this;
  }
  GgufWriter& key_u16(std::string_view name, std::uint16_t value) { return key(name, gguf_u16, little_endian(value, 2)); }
  GgufWriter& key_u32(std::string_view name, std::uint32_t value) { return key(name, gguf_u32, little_endian(value, 4)); }
  GgufWriter& key_text(std::string_view name, std::string_view value) { return key(name, gguf_string, gguf_text(value)); }
  GgufWriter& key_array(std::string_view name, std::uint32_t type, std::uint64_t count, const std::string& raw) {
    return key(name, gguf_array, little_endian(type, 4) + little_endian(count, 8) + raw);
  }

  // A tensor of so many bytes behind the one before it; `offset` to say another place.
  GgufWriter& tensor(std::string_view name, std::uint32_t type, const std::vector<std::uint64_t>& shape, std::uint64_t bytes, std::optional<std::uint64_t> offset = std::nullopt) {
    infos_ += gguf_text(name) + little_endian(shape.size(), 4);
    for (const std::uint64_t size : shape) infos_ += little_endian(size, 8);
    infos_ += little_endian(type, 4) + little_endian(offset.value_or(padded(data_bytes_)), 8);
    data_bytes_ = padded(data_bytes_) + bytes;
    ++tensor_count_;
    return *this;
  }

  std::string header() const {
    return magic + little_endian(version, 4) + little_endian(claimed_tensors.value_or(tensor_count_), 8) + little_endian(claimed_keys.value_or(key_count_), 8) + keys_ + infos_;
  }
  std::uint64_t data_offset() const { return padded(header().size()); }
  std::string write() const {
    std::string file = header();
    if (tensor_count_ == 0) return file;
    file.resize(static_cast<std::size_t>(padded(file.size())), '\0');
    for (std::uint64_t i = 0; i < (end_padding ? padded(data_bytes_) : data_bytes_); ++i) file += static_cast<char>(i * 7 + 1);
    return file;
  }

 private:
  std::uint64_t padded(std::uint64_t bytes) const { return (bytes + alignment - 1) / alignment * alignment; }
  std::string keys_;
  std::string infos_;
  std::uint64_t key_count_ = 0;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t data_bytes_ = 0;
};

// Two F32 tensors: "a" [3, 2] and "b" [5].
inline GgufWriter small_gguf() {
  GgufWriter writer;
  writer.key_text("general.architecture", "llama").tensor("a", 0, {3, 2}, 24).tensor("b", 0, {5}, 20);
  return writer;
}

}  // namespace vouchfs::tests
