// Magic, version, counts, and the key-value pairs of a GGUF header.
#include <array>
#include <unordered_set>
#include <utility>

#include "base/utf8.h"
#include "formats/gguf_parts.h"
#include "formats/shown_name.h"

namespace vouchfs::formats {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr std::uint32_t kNewestVersion = 3;
constexpr std::uint64_t kMaxAlignment = 1ULL << 20;  // the reference's
constexpr std::size_t kMaxArchitectureBytes = 1024;

constexpr const char* kKeysText = "failed to read key-value pairs";
constexpr const char* kHeaderText = "failed to read header";

// Types of values, as the format numbers them.
constexpr std::uint32_t kU32 = 4;
constexpr std::uint32_t kF32 = 6;
constexpr std::uint32_t kBool = 7;
constexpr std::uint32_t kString = 8;
constexpr std::uint32_t kArray = 9;
constexpr std::uint32_t kF64 = 12;
constexpr std::uint32_t kTypeCount = 13;
constexpr std::array<std::uint8_t, kTypeCount> kValueBytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

constexpr std::array<std::string_view, kTypeCount> kTypeNames = {"u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "str", "arr", "u64", "i64", "f64"};

std::string number(std::uint64_t value) { return std::to_string(value); }

HeaderProblem bad_version(const char* name, std::string text, std::string detail) { return {name, std::move(text), std::move(detail), {}, 4}; }

MaybeProblem check_version(std::uint32_t version) {
  if ((version & 0xFFFFU) == 0 && version != 0)
    return bad_version(
        "ByteOrder",
        "failed to load model: this GGUF file version " + number(version) + " is extremely large, is there a mismatch between the host and model endianness?",
        "the version is stored big-endian (" + number(__builtin_bswap32(version)) + "): the file was made for another kind of processor");
  if (version == 0) return bad_version("UnsupportedVersion", "bad GGUF version: 0", "version 0 does not exist: the head of the file is damaged");
  if (version == 1)
    return bad_version("UnsupportedVersion", "GGUFv1 is no longer supported, please use a more up-to-date version",
                       "the file is GGUF version 1, which no current reader takes");
  if (version > kNewestVersion)
    return bad_version("UnsupportedVersion", "this GGUF file is version " + number(version) + " but this software only supports up to version 3",
                       "the file says it is GGUF version " + number(version) + "; versions 2 and 3 are known");
  return std::nullopt;
}

MaybeProblem check_count(const char* of_what, std::uint64_t count, std::uint64_t limit, std::uint64_t offset) {
  if (count <= limit) return std::nullopt;
  const bool negative = count > INT64_MAX;
  return HeaderProblem{
      "BadCount",
      std::string("number of ") + of_what + " is " + (negative ? std::to_string(static_cast<std::int64_t>(count)) : number(count)),
      std::string("the header claims ") + (negative ? "a negative number of " : number(count) + " ") + of_what + "; at most " + number(limit) + " are read",
      {},
      offset};
}

class KeyReader {
 public:
  KeyReader(GgufStream& stream, GgufHeader& header) : stream_(stream), header_(header) {}

  MaybeProblem read() {
    for (std::uint64_t i = 0; i < header_.key_count; ++i)
      if (auto problem = pair()) return problem;
    return check_alignment();
  }

 private:
  MaybeProblem ended(const std::string& what) const { return gguf_ended(stream_, kKeysText, what); }
  HeaderProblem bad(const char* name, std::string detail) const { return {name, kKeysText, std::move(detail), {}, begin_}; }
  std::string shown() const { return "key '" + shown_name(key_) + "'"; }
  HeaderProblem endless(const char* name, std::uint64_t bytes, std::string detail) const {
    HeaderProblem problem = bad(name, std::move(detail));
    if (bytes > kMaxGgufString) problem.text = gguf_string_text(bytes);
    return problem;
  }

  MaybeProblem pair() {
    begin_ = stream_.at();
    if (auto problem = read_key()) return problem;
    if (key_ == "general.alignment") alignment_at_ = begin_;
    std::uint32_t type = 0;
    if (!stream_.number(type)) return ended("the type of " + shown());
    return type == kArray ? array() : value(type);
  }

  MaybeProblem read_key() {
    std::uint64_t bytes = 0;
    if (!stream_.number(bytes)) return ended("a key");
    if (bytes == 0) {
      HeaderProblem problem = bad("BadKey", "key number " + number(keys_.size() + 1) + " is empty");
      problem.text = "key " + number(keys_.size()) + " is empty";
      return problem;
    }
    if (bytes > kMaxGgufKeyBytes && (bytes <= stream_.left() || bytes > kMaxGgufString))
      return endless("BadKey", bytes,
                     "key number " + number(keys_.size() + 1) + " claims " + number(bytes) + " bytes; at most " + number(kMaxGgufKeyBytes) + " are allowed");
    if (!stream_.text(bytes, key_)) return ended("a key of " + number(bytes) + " bytes");
    // llama.cpp takes such a key and misses the one it stands for; the Python package refuses the file.
    if (!is_utf8(key_) || key_.find('\0') != std::string::npos)
      return bad("BadKey", "key number " + number(keys_.size() + 1) + " (\"" + printable(key_) + "\") is no text: the header is damaged");
    if (keys_.insert(key_).second) return std::nullopt;
    HeaderProblem problem = bad("DuplicateKey", shown() + " comes twice");
    problem.text = "duplicate key '" + shown_name(key_) + "'";
    return problem;
  }

  MaybeProblem bad_type(std::uint32_t type) const {
    HeaderProblem problem = bad("BadValue", shown() + " has a value of type " + number(type) + ", which the format does not have");
    problem.text = "key '" + shown_name(key_) + "' has invalid GGUF type " + std::to_string(static_cast<std::int32_t>(type));
    return problem;
  }

  MaybeProblem value(std::uint32_t type) {
    if (type >= kTypeCount) return bad_type(type);
    if (key_ == "general.alignment" && type != kU32) alignment_type_ = kTypeNames[type];
    if (type == kString) return text_value();
    std::uint64_t raw = 0;
    if (!take(kValueBytes[type], raw)) return ended("the value of " + shown());
    if (key_ == "general.alignment") header_.alignment = raw;
    if (type != kF32 && type != kF64 && type != kBool) keep_split(raw);
    return std::nullopt;
  }

  bool take(std::uint8_t bytes, std::uint64_t& raw) {
    switch (bytes) {
      case 1:
        return take_as<std::uint8_t>(raw);
      case 2:
        return take_as<std::uint16_t>(raw);
      case 4:
        return take_as<std::uint32_t>(raw);
      default:
        return stream_.number(raw);
    }
  }
  template <class T>
  bool take_as(std::uint64_t& raw) {
    T narrow = 0;
    if (!stream_.number(narrow)) return false;
    raw = narrow;
    return true;
  }

  void keep_split(std::uint64_t value) {
    if (key_ == "split.no") split().number = value;
    if (key_ == "split.count") split().count = value;
    if (key_ == "split.tensors.count") split().tensors = value;
  }
  GgufSplit& split() {
    if (!header_.split) header_.split.emplace();
    return *header_.split;
  }

  MaybeProblem text_value() {
    std::uint64_t bytes = 0;
    if (!stream_.number(bytes)) return ended("the value of " + shown());
    if (bytes > kMaxGgufString) return endless("BadValue", bytes, shown() + " claims a text of " + number(bytes) + " bytes");
    if (key_ == "general.architecture" && bytes <= kMaxArchitectureBytes) {
      if (!stream_.text(bytes, header_.architecture)) return ended("the value of " + shown());
      return std::nullopt;
    }
    if (!stream_.skip(bytes)) return ended("the value of " + shown() + ", " + number(bytes) + " bytes");
    return std::nullopt;
  }

  MaybeProblem array() {
    std::uint32_t type = 0;
    std::uint64_t count = 0;
    if (!stream_.number(type) || !stream_.number(count)) return ended("the array of " + shown());
    if (type == kArray) return bad("BadValue", shown() + " is an array of arrays, which the format does not have");
    if (type >= kTypeCount) return bad_type(type);
    if (key_ == "general.alignment") alignment_type_ = "arr";
    if (count > kMaxGgufElements) return bad("BadValue", shown() + " claims an array of " + number(count) + " elements");
    if (type != kString) return stream_.skip(count * kValueBytes[type]) ? std::nullopt : ended("the array of " + shown());
    return texts(count);
  }

  MaybeProblem texts(std::uint64_t count) {
    if (count > stream_.left() / sizeof(std::uint64_t)) return ended("the array of " + shown() + ", " + number(count) + " texts,");
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t bytes = 0;
      if (!stream_.number(bytes)) return ended("element " + number(i) + " of " + shown());
      if (bytes > kMaxGgufString)
        return endless("BadValue", bytes, "element " + number(i) + " of " + shown() + " claims a text of " + number(bytes) + " bytes");
      if (!stream_.skip(bytes)) return ended("element " + number(i) + " of " + shown());
    }
    return std::nullopt;
  }

  MaybeProblem check_alignment() const {
    const std::uint64_t alignment = header_.alignment;
    if (!alignment_type_.empty())
      return HeaderProblem{"BadAlignment",
                           "key 'general.alignment' must be of type u32 but is " + std::string(alignment_type_),
                           "general.alignment must be a 32-bit unsigned number, but its type is " + std::string(alignment_type_),
                           {},
                           alignment_at_};
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
      return HeaderProblem{"BadAlignment",
                           "alignment " + number(alignment) + " is not a power of 2",
                           "general.alignment is " + number(alignment) + "; it must be a power of two",
                           {},
                           alignment_at_};
    if (alignment > kMaxAlignment)
      return HeaderProblem{"BadAlignment",
                           "alignment " + number(alignment) + " exceeds maximum allowed " + number(kMaxAlignment),
                           "general.alignment is " + number(alignment) + "; at most " + number(kMaxAlignment) + " is taken",
                           {},
                           alignment_at_};
    return std::nullopt;
  }

  GgufStream& stream_;
  GgufHeader& header_;
  std::string key_;
  std::uint64_t begin_ = 0;
  std::uint64_t alignment_at_ = 0;
  std::string_view alignment_type_;  // when it is a wrong one
  std::unordered_set<std::string> keys_;
};

}  // namespace

HeaderProblem gguf_ended(const GgufStream& stream, std::string text, const std::string& what) {
  if (stream.past_limit())
    return {"BadValue",
            std::move(text),
            "at byte " + number(stream.at()) + ", " + what + " would take the header past " + number(kMaxGgufHeader) + " bytes",
            {},
            stream.at()};
  return {"TruncatedHeader",
          std::move(text),
          "the file ends at byte " + number(stream.at() + stream.left()) + ", inside the header, while " + what + " (from byte " + number(stream.at()) +
              ") is read",
          {},
          stream.at()};
}

MaybeProblem read_gguf_prologue(std::uint64_t file_bytes, GgufStream& stream, GgufHeader& header) {
  std::string magic;
  if (!stream.text(kMagic.size(), magic))
    return HeaderProblem{"FileTooSmall", "failed to read magic", "the file has " + number(file_bytes) + " bytes; the magic word alone takes 4", {}, 0};
  if (magic != kMagic)
    return HeaderProblem{"BadMagic",
                         "invalid magic characters: '" + printable(magic) + "', expected 'GGUF'",
                         "the file begins with \"" + printable(magic) + "\", not with \"GGUF\"",
                         {},
                         0};
  if (!stream.number(header.version)) return gguf_ended(stream, kHeaderText, "the version");
  if (auto problem = check_version(header.version)) return problem;
  const std::uint64_t tensors_at = stream.at();
  if (!stream.number(header.tensor_count)) return gguf_ended(stream, kHeaderText, "the number of tensors");
  if (auto problem = check_count("tensors", header.tensor_count, kMaxGgufTensors, tensors_at)) return problem;
  const std::uint64_t keys_at = stream.at();
  if (!stream.number(header.key_count)) return gguf_ended(stream, kHeaderText, "the number of keys");
  return check_count("key value pairs", header.key_count, kMaxGgufKeys, keys_at);
}

MaybeProblem read_gguf_keys(GgufStream& stream, GgufHeader& header) { return KeyReader(stream, header).read(); }

}  // namespace vouchfs::formats
