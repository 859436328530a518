#include "formats/file_kind.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/utf8.h"
#include "formats/safetensors.h"

namespace vouchfs::formats {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kMaxTitleBytes = 200;
constexpr std::uint64_t kMaxMessageFile = 4096;  // an answer of a server that was saved as a file is short

struct KindFacts {
  FileKind kind;
  const char* word;
  const char* words;
};
constexpr std::array kKinds = {
    KindFacts{FileKind::empty, "empty", "an empty file"},
    KindFacts{FileKind::zeros, "zeros", "zero bytes"},
    KindFacts{FileKind::lfs_pointer, "lfs_pointer", "a Git LFS pointer"},
    KindFacts{FileKind::html, "html", "a web page"},
    KindFacts{FileKind::xml, "xml", "an XML document"},
    KindFacts{FileKind::json, "json", "a JSON document"},
    KindFacts{FileKind::error_text, "error_text", "an error message of a server"},
    KindFacts{FileKind::text, "text", "plain text"},
    KindFacts{FileKind::zip, "zip", "a zip archive, as torch.save writes"},
    KindFacts{FileKind::gguf, "gguf", "a GGUF file"},
    KindFacts{FileKind::ggml_old, "ggml_old", "a GGML file from before GGUF"},
    KindFacts{FileKind::hdf5, "hdf5", "an HDF5 file"},
    KindFacts{FileKind::numpy, "numpy", "a NumPy array"},
    KindFacts{FileKind::onnx, "onnx", "an ONNX model"},
    KindFacts{FileKind::tflite, "tflite", "a TensorFlow Lite model"},
    KindFacts{FileKind::gzip, "gzip", "gzip data"},
    KindFacts{FileKind::xz, "xz", "xz data"},
    KindFacts{FileKind::zstd, "zstd", "zstd data"},
    KindFacts{FileKind::tar, "tar", "a tar archive"},
    KindFacts{FileKind::pickle, "pickle", "a pickle, as older versions of torch.save write"},
    KindFacts{FileKind::safetensors, "safetensors", "a safetensors file"},
    KindFacts{FileKind::binary, "binary", "data of no known format"},
};

const KindFacts& facts_of(FileKind kind) {
  const auto* at = std::find_if(kKinds.begin(), kKinds.end(), [&](const KindFacts& facts) { return facts.kind == kind; });
  return at == kKinds.end() ? kKinds.back() : *at;
}

struct Magic {
  std::size_t offset;
  std::string_view bytes;
  FileKind kind;
};
// The old GGML words are 32-bit numbers in the machine's order, so they stand reversed in files of little-endian machines.
constexpr std::array kMagics = {
    Magic{0, "PK\x03\x04"sv, FileKind::zip},
    Magic{0, "PK\x05\x06"sv, FileKind::zip},
    Magic{0, "GGUF"sv, FileKind::gguf},
    Magic{0, "lmgg"sv, FileKind::ggml_old},
    Magic{0, "tjgg"sv, FileKind::ggml_old},
    Magic{0, "algg"sv, FileKind::ggml_old},
    Magic{0, "fmgg"sv, FileKind::ggml_old},
    Magic{0, "ggml"sv, FileKind::ggml_old},
    Magic{0, "ggjt"sv, FileKind::ggml_old},
    Magic{0, "ggla"sv, FileKind::ggml_old},
    Magic{0, "ggmf"sv, FileKind::ggml_old},
    Magic{0, "\x89HDF\r\n\x1a\n"sv, FileKind::hdf5},
    Magic{0, "\x93NUMPY"sv, FileKind::numpy},
    Magic{4, "TFL3"sv, FileKind::tflite},
    Magic{0, "\x1f\x8b"sv, FileKind::gzip},
    Magic{0,
          "\xfd"
          "7zXZ\0"sv,
          FileKind::xz},
    Magic{0, "\x28\xb5\x2f\xfd"sv, FileKind::zstd},
    Magic{257, "ustar"sv, FileKind::tar},
};

bool has_at(std::string_view head, std::size_t offset, std::string_view bytes) {
  return head.size() >= offset + bytes.size() && head.substr(offset, bytes.size()) == bytes;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string title_text(std::string_view text) {
  std::string_view cut = trimmed(text);
  while (cut.size() > kMaxTitleBytes || (!cut.empty() && !is_utf8(cut) && cut.size() > kMaxTitleBytes - 4)) cut.remove_suffix(1);
  std::string shown = printable(cut);
  return shown;
}

// A length that fits the format and a header that opens behind it: such a file is parsed before anything else is guessed from its bytes
// (a good one may begin 78 20, like zlib).
bool looks_like_safetensors(std::string_view head, std::uint64_t file_bytes) {
  constexpr std::size_t kLengthBytes = 8;
  if (head.size() <= kLengthBytes) return false;
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(head[i]);
  if (length < 2 || length > kMaxSafetensorsHeader || file_bytes <= kLengthBytes) return false;
  const auto first = head.find_first_not_of(kBlanks, kLengthBytes);
  return first != std::string_view::npos && head[first] == '{';
}

// Protocol 2 and newer begin with PROTO; a frame or an opcode of a pickled value follows.
bool looks_like_pickle(std::string_view head) { return head.size() >= 3 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5; }

// A protobuf whose first field is ir_version, followed by producer_name or a later string field of ModelProto.
bool looks_like_onnx(std::string_view head) {
  return head.size() >= 4 && head[0] == '\x08' && head[1] >= 3 && head[1] <= 0x10 &&
         (head[2] == '\x12' || head[2] == '\x1a' || head[2] == '\x3a' || head[2] == '\x42');
}

// Text: valid UTF-8 (but for a sequence that the end of the head cuts) without control characters.
bool looks_like_text(std::string_view head) {
  const std::size_t bad = find_invalid_utf8(head);
  if (bad != std::string_view::npos && (head.size() < kKindBytes || bad + 4 < head.size())) return false;
  return std::none_of(head.begin(), head.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 && kBlanks.find(c) == std::string_view::npos && c != '\f'; });
}

std::string html_title(std::string_view page) {
  const std::string low = lower(page);
  const auto tag = low.find("<title");
  const auto open = tag == std::string::npos ? tag : low.find('>', tag);
  if (open == std::string::npos) return {};
  const auto close = low.find("</title", open);
  return title_text(page.substr(open + 1, close == std::string::npos ? std::string_view::npos : close - open - 1));
}

bool looks_like_html(std::string_view text) {
  const std::string low = lower(text.substr(0, 1024));
  for (const std::string_view start : {"<!doctype html"sv, "<html"sv, "<head"sv, "<body"sv, "<script"sv, "<title"sv})
    if (std::string_view(low).starts_with(start)) return true;
  return (low.starts_with("<!--") || low.starts_with("<?xml")) && low.find("<html") != std::string::npos;
}

// Short answers of servers and proxies, as they are saved when a client does not look at the status.
bool looks_like_error(std::string_view text) {
  static constexpr std::array kStarts = {"entry not found"sv,
                                         "invalid username or password"sv,
                                         "invalid credentials"sv,
                                         "repository not found"sv,
                                         "revision not found"sv,
                                         "access to model"sv,
                                         "access denied"sv,
                                         "not found"sv,
                                         "unauthorized"sv,
                                         "forbidden"sv,
                                         "bad gateway"sv,
                                         "bad request"sv,
                                         "internal server error"sv,
                                         "service unavailable"sv,
                                         "too many requests"sv,
                                         "gateway timeout"sv,
                                         "gateway time-out"sv,
                                         "request timeout"sv,
                                         "rate limit"sv,
                                         "no such"sv,
                                         "404"sv,
                                         "403"sv,
                                         "401"sv,
                                         "429"sv,
                                         "500"sv,
                                         "502"sv,
                                         "503"sv,
                                         "504"sv,
                                         "error"sv,
                                         "upstream"sv,
                                         "proxy"sv,
                                         "file not found"sv,
                                         "invalid "sv,
                                         "you are not"sv,
                                         "authentication"sv,
                                         "expired"sv,
                                         "signature"sv};
  const std::string low = lower(text.substr(0, 256));
  return std::any_of(kStarts.begin(), kStarts.end(), [&](std::string_view start) { return std::string_view(low).starts_with(start); });
}

// The value of the first of these keys that is a plain string; enough for a message.
std::string json_message(std::string_view text) {
  for (const std::string_view key : {"\"error\""sv, "\"message\""sv, "\"detail\""sv, "\"error_description\""sv, "\"errors\""sv}) {
    const auto at = text.find(key);
    if (at == std::string_view::npos) continue;
    const auto open = text.find_first_not_of(" \t\r\n:[{", at + key.size());
    if (open == std::string_view::npos || text[open] != '"') continue;
    const auto close = text.find('"', open + 1);
    if (close != std::string_view::npos && close > open + 1) return title_text(text.substr(open + 1, close - open - 1));
  }
  return {};
}

void judge_text(std::string_view text, std::uint64_t file_bytes, KindOfFile& found) {
  const std::string_view body = trimmed(text);
  const bool small = file_bytes <= kMaxMessageFile;
  found.kind = FileKind::text;
  if (body.empty()) return;
  if (body.starts_with("version https://git-lfs") || body.starts_with("version https://hawser")) {
    found.kind = FileKind::lfs_pointer;
  } else if (looks_like_html(body)) {
    found.kind = FileKind::html;
    found.title = html_title(body);
  } else if (body.front() == '<' && body.find('>') != std::string_view::npos) {
    found.kind = FileKind::xml;
  } else if (body.front() == '{' || body.front() == '[') {
    found.kind = FileKind::json;
    if (small) found.title = json_message(body);
  } else if (small && looks_like_error(body)) {
    found.kind = FileKind::error_text;
    found.title = title_text(body);
  } else if (small) {
    found.title = title_text(body.substr(0, body.find('\n')));
  }
}

FileKind kind_of_bytes(std::string_view head) {
  for (const Magic& magic : kMagics)
    if (has_at(head, magic.offset, magic.bytes)) return magic.kind;
  if (looks_like_pickle(head)) return FileKind::pickle;
  return looks_like_onnx(head) ? FileKind::onnx : FileKind::binary;
}

}  // namespace

const char* to_string(FileKind kind) noexcept { return facts_of(kind).word; }
const char* in_words(FileKind kind) noexcept { return facts_of(kind).words; }

KindOfFile kind_of_head(std::string_view head, std::uint64_t file_bytes) {
  KindOfFile found;
  head = head.substr(0, kKindBytes);
  if (file_bytes == 0 || head.empty()) {
    found.kind = FileKind::empty;
    return found;
  }
  if (head.find_first_not_of('\0') == std::string_view::npos) {
    found.kind = FileKind::zeros;
    return found;
  }
  if (looks_like_safetensors(head, file_bytes)) {
    found.kind = FileKind::safetensors;
    return found;
  }
  if (head.starts_with(kByteOrderMark)) {
    found = kind_of_head(head.substr(kByteOrderMark.size()), file_bytes - kByteOrderMark.size());
    found.bom = true;
    return found;
  }
  found.kind = kind_of_bytes(head);
  const bool short_magic = found.kind == FileKind::onnx || found.kind == FileKind::binary || found.kind == FileKind::ggml_old;
  if (short_magic && looks_like_text(head)) judge_text(head, file_bytes, found);
  return found;
}

}  // namespace vouchfs::formats
