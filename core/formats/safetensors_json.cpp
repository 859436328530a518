#include "formats/safetensors_json.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

#include "formats/json_reader.h"
#include "formats/shown_name.h"

namespace vouchfs::formats {
namespace {

constexpr const char* kJsonError = "InvalidHeaderDeserialization";
constexpr const char* kTextPrefix = "invalid JSON in header: ";

// Keeps the first fault of a field. It is reported only when the object is sound JSON to its closing brace.
struct Faults {
  std::optional<HeaderProblem> first;
  bool unusable = false;  // the entry being read has a fault that leaves its place unknown
  std::string tensor;  // the entry being read
  std::uint64_t offset = 0;

  void add(std::string cause, const char* name = kJsonError) {
    unusable = unusable || std::string_view(name) == kJsonError;
    if (!first) first = HeaderProblem{name, kTextPrefix + cause, "tensor '" + shown_name(tensor) + "': " + cause, tensor, offset};
  }
};

// A sink that never stops the reading: what it does not want is noted as a fault.
class FieldSink : public JsonSink {
 public:
  explicit FieldSink(Faults& faults) : faults_(faults) {}
  Status begin(JsonContainer container) override {
    faults_.add(container == JsonContainer::object ? "invalid type: map" : "invalid type: sequence");
    return {};
  }

 protected:
  Faults& faults_;
};

// A text; or, as serde takes an enum, an object whose only key is the text: which no writer writes, so that a dtype we know is refused in it too.
class DtypeSink final : public FieldSink {
 public:
  DtypeSink(Faults& faults, std::string& into) : FieldSink(faults), into_(into) {}
  Status scalar(JsonScalar& value) override {
    if (value.kind != JsonScalar::Kind::text)
      faults_.add(std::string("invalid type: ") + value.kind_name() + ", expected a dtype");
    else if (!safetensors_dtype_bits(value.text))
      add_unknown(value.text);
    into_ = std::move(value.text);
    return {};
  }
  Status begin(JsonContainer container) override {
    is_map_ = container == JsonContainer::object;
    members_ = 0;
    return is_map_ ? Status{} : FieldSink::begin(container);
  }
  Result<JsonSink*> member(std::string& key, std::uint64_t) override {
    if (members_++ == 0) into_ = key;
    return nullptr;
  }
  Status end(std::uint64_t) override {
    if (!is_map_) return {};
    if (members_ == 1 && !safetensors_dtype_bits(into_))
      add_unknown(into_);
    else
      faults_.add("invalid type: map, expected a dtype");
    return {};
  }

 private:
  void add_unknown(const std::string& text) {
    faults_.add("unknown variant `" + shown_name(text) + "`, expected one of " + known_safetensors_dtypes(), "UnknownDtype");
  }

  std::string& into_;
  bool is_map_ = false;
  std::size_t members_ = 0;
};

class NumberSink final : public FieldSink {
 public:
  NumberSink(Faults& faults, std::vector<std::uint64_t>& into, std::size_t keep) : FieldSink(faults), into_(into), keep_(keep) {}
  Status scalar(JsonScalar& value) override {
    if (value.kind != JsonScalar::Kind::number) faults_.add(std::string("invalid type: ") + value.kind_name() + ", expected usize");
    if (into_.size() < keep_) into_.push_back(value.number);
    return {};
  }

 private:
  std::vector<std::uint64_t>& into_;
  std::size_t keep_;
};

// An array of unsigned integers; of exactly `exactly` of them when that is not 0.
class NumbersSink final : public FieldSink {
 public:
  NumbersSink(Faults& faults, std::vector<std::uint64_t>& into, std::size_t exactly)
      : FieldSink(faults), into_(into), exactly_(exactly), number_(faults, into, exactly == 0 ? SIZE_MAX : exactly) {}
  Status scalar(JsonScalar& value) override {
    faults_.add(std::string("invalid type: ") + value.kind_name() + ", expected a sequence");
    return {};
  }
  Status begin(JsonContainer container) override {
    into_.clear();
    count_ = 0;
    is_array_ = container == JsonContainer::array;
    if (!is_array_) faults_.add("invalid type: map, expected a sequence");
    return {};
  }
  Result<JsonSink*> element() override {
    ++count_;
    return &number_;
  }
  Status end(std::uint64_t) override {
    if (is_array_ && exactly_ != 0 && count_ != exactly_)
      faults_.add("invalid length " + std::to_string(count_) + ", expected data_offsets of " + std::to_string(exactly_) + " numbers");
    return {};
  }

 private:
  std::vector<std::uint64_t>& into_;
  std::size_t exactly_;
  std::size_t count_ = 0;
  bool is_array_ = false;
  NumberSink number_;
};

constexpr std::array<const char*, 3> kFields = {"dtype", "shape", "data_offsets"};

// One tensor: {"dtype", "shape", "data_offsets"} or the three values in an array.
class EntrySink final : public FieldSink {
 public:
  EntrySink(Faults& faults, std::vector<HeaderEntry>& entries)
      : FieldSink(faults), entries_(entries), dtype_(faults, dtype_text_), shape_(faults, shape_numbers_, 0), offsets_(faults, offset_numbers_, 2) {}
  Status scalar(JsonScalar& value) override {
    faults_.add(std::string("invalid type: ") + value.kind_name() + ", expected struct TensorInfo");
    return {};
  }
  Status begin(JsonContainer) override {
    dtype_text_.clear();
    shape_numbers_.clear();
    offset_numbers_.clear();
    seen_ = {};
    position_ = 0;
    faults_.unusable = false;
    return {};
  }
  Result<JsonSink*> member(std::string& key, std::uint64_t) override {
    const auto* field = std::find(kFields.begin(), kFields.end(), key);
    return field == kFields.end() ? nullptr : open(static_cast<std::size_t>(field - kFields.begin()));
  }
  Result<JsonSink*> element() override {
    if (position_ < kFields.size()) return open(position_++);
    faults_.add("invalid length, expected struct TensorInfo with 3 elements");
    return nullptr;
  }
  Status end(std::uint64_t) override {
    for (std::size_t i = 0; i < kFields.size(); ++i)
      if (!seen_[i]) faults_.add(std::string("missing field `") + kFields[i] + "`");
    if (faults_.unusable || offset_numbers_.size() != 2) return {};
    entries_.push_back({Tensor{faults_.tensor, std::move(dtype_text_), std::move(shape_numbers_), offset_numbers_[0], offset_numbers_[1]}, faults_.offset});
    return {};
  }

 private:
  JsonSink* open(std::size_t field) {
    if (std::exchange(seen_[field], true)) faults_.add(std::string("duplicate field `") + kFields[field] + "`");
    if (field == 0) return &dtype_;
    return field == 1 ? &shape_ : &offsets_;
  }

  std::vector<HeaderEntry>& entries_;
  std::array<bool, 3> seen_{};
  std::size_t position_ = 0;
  std::string dtype_text_;
  std::vector<std::uint64_t> shape_numbers_;
  std::vector<std::uint64_t> offset_numbers_;
  DtypeSink dtype_;
  NumbersSink shape_;
  NumbersSink offsets_;
};

// `__metadata__`: null, or an object of strings. Its faults stop the reading at once, as in the reference.
class MetadataSink final : public JsonSink {
 public:
  explicit MetadataSink(HeaderJson& header) : format_(header.format), present_(header.has_metadata), broken_(header.metadata_broken), text_(*this) {}
  Status scalar(JsonScalar& value) override {
    if (value.kind == JsonScalar::Kind::null) return {};
    return refuse(std::string("invalid type: `__metadata__` is ") + value.kind_name() + ", expected a map");
  }
  Status begin(JsonContainer container) override {
    present_ = true;
    if (container == JsonContainer::object) return {};
    return refuse("invalid type: `__metadata__` is a sequence, expected a map");
  }
  Result<JsonSink*> member(std::string& key, std::uint64_t) override {
    key_ = std::move(key);
    return &text_;
  }

 private:
  class Text final : public JsonSink {
   public:
    explicit Text(MetadataSink& owner) : owner_(owner) {}
    Status scalar(JsonScalar& value) override {
      if (value.kind != JsonScalar::Kind::text) return refuse(value.kind_name());
      if (owner_.key_ == "format") owner_.format_ = std::move(value.text);
      return {};
    }
    Status begin(JsonContainer container) override { return refuse(container == JsonContainer::object ? "a map" : "a sequence"); }

   private:
    Status refuse(const char* what) const {
      return owner_.refuse("invalid type: the value of '" + shown_name(owner_.key_) + "' in `__metadata__` is " + what + ", expected a string");
    }
    MetadataSink& owner_;
  };
  tl::unexpected<Error> refuse(std::string cause) {
    broken_ = true;
    return fail(ErrorCode::bad_format, std::move(cause));
  }

  std::optional<std::string>& format_;
  bool& present_;
  bool& broken_;
  std::string key_;
  Text text_;
};

class HeaderSink final : public JsonSink {
 public:
  explicit HeaderSink(HeaderJson& header) : metadata_(header), entry_(faults, header.entries) {}
  Faults faults;
  bool ended = false;  // the closing brace was read

  Status scalar(JsonScalar& value) override { return fail(ErrorCode::bad_format, std::string("invalid type: ") + value.kind_name() + ", expected a map"); }
  Status begin(JsonContainer container) override {
    if (container == JsonContainer::object) return {};
    return fail(ErrorCode::bad_format, "invalid type: sequence, expected a map");
  }
  Result<JsonSink*> member(std::string& key, std::uint64_t offset) override {
    if (key == "__metadata__") {
      if (std::exchange(metadata_seen_, true)) return fail(ErrorCode::bad_format, "duplicate field `__metadata__`");
      return &metadata_;
    }
    faults.tensor = std::move(key);
    faults.offset = offset;
    return &entry_;
  }
  // The reference looks for trailing characters only after all fields were right.
  Status end(std::uint64_t) override {
    ended = true;
    return faults.first ? fail(ErrorCode::bad_format, faults.first->detail) : Status{};
  }

 private:
  bool metadata_seen_ = false;
  MetadataSink metadata_;
  EntrySink entry_;
};

// serde's map keeps the last of equal names; so do we, and remember that it happened.
void drop_repeated(HeaderJson& header) {
  std::vector<std::size_t> order(header.entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto name = [&](std::size_t i) -> const std::string& { return header.entries[i].tensor.name; };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return std::tie(name(a), a) < std::tie(name(b), b); });
  std::vector<bool> dropped(header.entries.size());
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    if (name(order[i]) != name(order[i + 1])) continue;
    dropped[order[i]] = true;
    header.repeated_name = name(order[i]);
  }
  std::size_t index = 0;
  std::erase_if(header.entries, [&](const HeaderEntry&) { return dropped[index++]; });
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

}  // namespace

HeaderJson parse_safetensors_json(std::string_view text) {
  HeaderJson header;
  HeaderSink sink(header);
  const Status status = read_json(text, sink);
  if (sink.faults.first && sink.ended) {
    header.problem = std::move(sink.faults.first);
  } else if (!status) {
    const Error& error = status.error();
    const std::string cause = text.empty() ? "EOF while parsing a value at line 1 column 0" : error.message;
    const std::string detail = is_blank(text) ? "the header is empty: a zero-filled head is the mark of a file whose data never reached the disk"
                                              : "the header is no valid JSON: " + cause;
    header.problem = HeaderProblem{kJsonError, kTextPrefix + cause, detail, {}, error.where.offset.value_or(0)};
  }
  if (header.problem) header.format.reset();
  drop_repeated(header);
  return header;
}

}  // namespace vouchfs::formats
