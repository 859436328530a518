// json_reader.h: JSON from untrusted bytes, event by event: nothing is kept that a sink does not keep, and every error has its byte.
// Layer:   core/formats (2). nlohmann::json stays in the .cpp; no exception leaves it.
// Accepts: RFC 8259, UTF-8, no byte order mark, no NUL bytes, at most kMaxJsonDepth levels.
// Threads: one reading a sink at a time.
// Errors:  bad_format with where.offset: the byte in the text. Errors of sinks pass through and get an offset when they have none.
// Cost:    one pass; memory is that of the longest string plus what sinks keep.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace vouchfs::formats {

// serde_json, which reads safetensors headers, refuses 128 levels; one limit serves all our files.
inline constexpr std::size_t kMaxJsonDepth = 127;

struct JsonScalar {
  enum class Kind { null, boolean, number, negative, real, text };
  Kind kind = Kind::null;
  bool boolean = false;
  std::uint64_t number = 0;  // Kind::number: an integer of at most 2^64 - 1; larger ones are Kind::real
  double real = 0;           // Kind::real
  std::string text;          // Kind::text; may be moved from

  // "a string", "a negative number" …, for messages.
  const char* kind_name() const noexcept;
};

enum class JsonContainer { object, array };

// What takes the values of one place of a document. The defaults refuse everything but what a subclass overrides.
class JsonSink {
 public:
  JsonSink() = default;
  JsonSink(const JsonSink&) = delete;
  JsonSink& operator=(const JsonSink&) = delete;
  virtual ~JsonSink() = default;

  virtual Status scalar(JsonScalar& value);
  virtual Status begin(JsonContainer container);
  // The sink for the value of a key, or null when the value is of no interest (its JSON is checked all the same).
  // `offset` is where the key begins in the text; exact unless the key holds escapes, then just behind it.
  virtual Result<JsonSink*> member(std::string& key, std::uint64_t offset);
  // The sink for the next value of an array, or null.
  virtual Result<JsonSink*> element();
  // `offset` is just behind the closing bracket.
  virtual Status end(std::uint64_t offset);
};

// Reads one JSON value, the whole text, into root.
Status read_json(std::string_view text, JsonSink& root);

// The same text as a JSON string, quotes included: the shortest form of RFC 8785 (what Python's json.dumps(ensure_ascii=False) gives).
void append_json_string(std::string& out, std::string_view text);

}  // namespace vouchfs::formats
