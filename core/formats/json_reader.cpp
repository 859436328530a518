#include "formats/json_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/utf8.h"

namespace vouchfs::formats {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kMaxMessageBytes = 200;

// Walks the text for nlohmann's lexer and tells the outside how far it came: its events carry no position.
struct Cursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at = nullptr;
  const char** progress = nullptr;

  reference operator*() const { return *at; }
  Cursor& operator++() {
    ++at;
    *progress = at;
    return *this;
  }
  Cursor operator++(int) {
    Cursor old = *this;
    ++*this;
    return old;
  }
  bool operator==(const Cursor& other) const { return at == other.at; }
  bool operator!=(const Cursor& other) const { return at != other.at; }
};

// "[json.exception.parse_error.101] parse error at line 1, column 9: syntax error …" -> "syntax error …"
std::string cause_of(const std::exception& exception) {
  std::string text = exception.what();
  const auto colon = text.find(": ");
  if (colon != std::string::npos) text.erase(0, colon + 2);
  if (text.size() > kMaxMessageBytes) text = text.substr(0, kMaxMessageBytes) + "...";
  return printable(text);
}

Error json_error(std::string message, std::uint64_t offset) {
  Error error = make_error(ErrorCode::bad_format, std::move(message));
  error.where.offset = offset;
  return error;
}

// nlohmann's SAX events, handed to the sink whose turn it is. Every event returns false to stop; then `error` says why.
class Events {
 public:
  Events(std::string_view text, JsonSink& root) : text_(text), progress_(text.data()), next_(&root) {}

  Cursor begin() { return {text_.data(), &progress_}; }
  Cursor end() { return {text_.data() + text_.size(), &progress_}; }
  std::optional<Error> error;

  bool null() { return value({}); }
  bool boolean(bool is) {
    JsonScalar scalar;
    scalar.kind = JsonScalar::Kind::boolean;
    scalar.boolean = is;
    return value(std::move(scalar));
  }
  // Comes for numbers with a minus sign only, so "-0" too.
  bool number_integer(std::int64_t) {
    JsonScalar scalar;
    scalar.kind = JsonScalar::Kind::negative;
    return value(std::move(scalar));
  }
  bool number_unsigned(std::uint64_t number) {
    JsonScalar scalar;
    scalar.kind = JsonScalar::Kind::number;
    scalar.number = number;
    return value(std::move(scalar));
  }
  bool number_float(double real, const std::string&) {
    JsonScalar scalar;
    scalar.kind = JsonScalar::Kind::real;
    scalar.real = real;
    return value(std::move(scalar));
  }
  bool string(std::string& text) {
    JsonScalar scalar;
    scalar.kind = JsonScalar::Kind::text;
    scalar.text = std::move(text);
    return value(std::move(scalar));
  }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool start_object(std::size_t) { return start(JsonContainer::object); }
  bool start_array(std::size_t) { return start(JsonContainer::array); }
  bool end_object() { return finish(); }
  bool end_array() { return finish(); }
  bool key(std::string& name) {
    JsonSink* owner = stack_.back().sink;
    next_ = nullptr;
    return owner == nullptr || take(owner->member(name, key_offset(name)), next_);
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& exception) {
    error = json_error(cause_of(exception), std::min<std::uint64_t>(position == 0 ? 0 : position - 1, text_.size()));
    return false;
  }

 private:
  struct Level {
    JsonSink* sink;  // null: nobody wants what is in here
    bool is_array;
  };

  std::uint64_t position() const { return static_cast<std::uint64_t>(progress_ - text_.data()); }

  std::uint64_t key_offset(std::string_view name) const {
    const std::uint64_t end = position();
    if (end < name.size() + 2) return end;
    const std::uint64_t start = end - name.size() - 2;
    return text_.substr(start + 1, name.size()) == name ? start : end;
  }

  bool check(Status status) {
    if (status) return true;
    error = std::move(status).error();
    if (!error->where.offset) error->where.offset = position();
    return false;
  }
  bool take(Result<JsonSink*> sink, JsonSink*& into) {
    if (!sink) return check(fail(std::move(sink).error()));
    into = *sink;
    return true;
  }
  // Finds the sink of the value that begins now.
  bool turn(JsonSink*& sink) {
    sink = next_;
    if (stack_.empty() || !stack_.back().is_array) return true;
    JsonSink* owner = stack_.back().sink;
    sink = nullptr;
    return owner == nullptr || take(owner->element(), sink);
  }
  bool value(JsonScalar scalar) {
    JsonSink* sink = nullptr;
    if (!turn(sink)) return false;
    return sink == nullptr || check(sink->scalar(scalar));
  }
  bool start(JsonContainer container) {
    JsonSink* sink = nullptr;
    if (!turn(sink)) return false;
    if (stack_.size() >= kMaxJsonDepth)
      return check(fail(ErrorCode::bad_format, "recursion limit exceeded: nested deeper than " + std::to_string(kMaxJsonDepth) + " levels"));
    stack_.push_back({sink, container == JsonContainer::array});
    return sink == nullptr || check(sink->begin(container));
  }
  bool finish() {
    JsonSink* sink = stack_.back().sink;
    stack_.pop_back();
    return sink == nullptr || check(sink->end(position()));
  }

  std::string_view text_;
  const char* progress_;
  JsonSink* next_;
  std::vector<Level> stack_;
};

}  // namespace

const char* JsonScalar::kind_name() const noexcept {
  switch (kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return "a boolean";
    case Kind::number:
      return "an integer";
    case Kind::negative:
      return "a negative number";
    case Kind::real:
      return "a floating point number";
    case Kind::text:
      return "a string";
  }
  return "a value";
}

Status JsonSink::scalar(JsonScalar& value) { return fail(ErrorCode::bad_format, std::string(value.kind_name()) + " where none may stand"); }
Status JsonSink::begin(JsonContainer container) {
  return fail(ErrorCode::bad_format, container == JsonContainer::object ? "an object where none may stand" : "an array where none may stand");
}
Result<JsonSink*> JsonSink::member(std::string&, std::uint64_t) { return nullptr; }
Result<JsonSink*> JsonSink::element() { return nullptr; }
Status JsonSink::end(std::uint64_t) { return {}; }

Status read_json(std::string_view text, JsonSink& root) {
  if (text.starts_with(kByteOrderMark)) return fail(json_error("a byte order mark (ef bb bf) stands before the JSON", 0));
  // The lexer takes a NUL byte for the end of the text, so it gets the text up to there, and what follows is refused here.
  const std::size_t nul = std::min(text.find('\0'), text.size());
  Events events(text.substr(0, nul), root);
  try {
    if (!nlohmann::json::sax_parse(events.begin(), events.end(), &events) || events.error)
      return fail(events.error ? *std::move(events.error) : json_error("this is no JSON", 0));
  } catch (const nlohmann::json::exception& exception) {
    return fail(json_error(cause_of(exception), 0));
  }
  if (nul < text.size()) return fail(json_error("trailing characters: a NUL byte after the JSON", nul));
  return {};
}

void append_json_string(std::string& out, std::string_view text) {
  static constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";
  static constexpr std::string_view kLetters = "\"\\bfnrt";
  out += '"';
  for (const char c : text) {
    const auto special = kEscaped.find(c);
    if (special != std::string_view::npos) {
      out += '\\';
      out += kLetters[special];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += code;
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace vouchfs::formats
