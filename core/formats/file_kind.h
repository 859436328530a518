// file_kind.h: what a file is by its first bytes, whatever its name says.
// Layer: core/formats (2). Pure functions over at most kKindBytes of the head.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vouchfs::formats {

inline constexpr std::size_t kKindBytes = 4096;

enum class FileKind {
  empty,
  zeros,        // every byte of the head is zero
  lfs_pointer,  // Git LFS
  html,         // a web page
  xml,
  json,         // an object or array in text
  error_text,   // "Entry not found", "Invalid username or password." and other short answers of servers
  text,
  zip,          // PyTorch and others
  gguf,
  ggml_old,     // "ggml", "ggjt", "ggla" …: formats before GGUF
  hdf5,
  numpy,
  onnx,
  tflite,
  gzip,
  xz,
  zstd,
  tar,
  pickle,       // protocol 2 and newer, the legacy torch form among them
  safetensors,  // a plausible length and a '{' behind it
  binary,       // none of these
};
const char* to_string(FileKind kind) noexcept;
// "a web page", "a PyTorch zip archive" … for sentences.
const char* in_words(FileKind kind) noexcept;

struct KindOfFile {
  FileKind kind = FileKind::binary;
  std::string title;         // html: its <title>; error_text and small json: the message, printable, at most 200 bytes
  bool bom = false;          // begins with the UTF-8 byte order mark; kind is that of what is behind it
};
KindOfFile kind_of_head(std::string_view head, std::uint64_t file_bytes);

}  // namespace vouchfs::formats
