// json_fields.h: ready-made sinks for files with a fixed grammar: objects with known fields, lists, bounded strings and numbers.
// Layer:  core/formats (2). Header-only users: index files here, manifest and tensor table in core/seal.
// Owns:   nothing: sinks point to each other and to the caller's variables, which must outlive the reading.
// Errors: bad_format that names the field.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json_reader.h"

namespace vouchfs::formats {

// A scalar that goes to a function; containers are refused. `what` names the value in messages.
class JsonLeaf : public JsonSink {
 public:
  using Take = std::function<Status(JsonScalar&)>;
  JsonLeaf(std::string what, Take take) : what_(std::move(what)), take_(std::move(take)) {}
  Status scalar(JsonScalar& value) override { return take_(value); }
  Status begin(JsonContainer container) override;

 private:
  std::string what_;
  Take take_;
};

// Leaves for the usual cases. A string of at most max_bytes; an integer of at most max.
JsonLeaf::Take take_text(std::string what, std::size_t max_bytes, std::function<Status(std::string&&)> then);
JsonLeaf::Take take_number(std::string what, std::uint64_t max, std::function<Status(std::uint64_t)> then);

// An object: known fields go to their sinks, unknown ones are ignored, a known one that comes twice or not at all is refused.
class JsonObject : public JsonSink {
 public:
  using Hook = std::function<Status()>;
  explicit JsonObject(std::string what, Hook on_begin = {}, Hook on_end = {})
      : what_(std::move(what)), on_begin_(std::move(on_begin)), on_end_(std::move(on_end)) {}
  JsonObject& field(std::string_view name, JsonSink& sink) { return add(name, sink, true); }
  JsonObject& optional_field(std::string_view name, JsonSink& sink) { return add(name, sink, false); }

  Status scalar(JsonScalar& value) override;
  Status begin(JsonContainer container) override;
  Result<JsonSink*> member(std::string& key, std::uint64_t offset) override;
  Status end(std::uint64_t offset) override;

 private:
  struct Field {
    std::string name;
    JsonSink* sink;
    bool required;
    bool seen;
  };
  JsonObject& add(std::string_view name, JsonSink& sink, bool required) {
    fields_.push_back({std::string(name), &sink, required, false});
    return *this;
  }
  std::string what_;
  Hook on_begin_;
  Hook on_end_;
  std::vector<Field> fields_;
};

// An array of at most max items, all taken by one sink.
class JsonList : public JsonSink {
 public:
  JsonList(std::string what, std::uint64_t max, JsonSink& item, std::function<Status()> on_begin = {})
      : what_(std::move(what)), max_(max), item_(&item), on_begin_(std::move(on_begin)) {}
  Status scalar(JsonScalar& value) override;
  Status begin(JsonContainer container) override;
  Result<JsonSink*> element() override;

 private:
  std::string what_;
  std::uint64_t max_;
  std::uint64_t count_ = 0;
  JsonSink* item_;
  std::function<Status()> on_begin_;
};

// An object whose keys are data. on_key may refuse a key; then every value goes to one sink.
class JsonMap : public JsonSink {
 public:
  JsonMap(std::string what, std::function<Status(std::string&)> on_key, JsonSink& value) : what_(std::move(what)), on_key_(std::move(on_key)), value_(&value) {}
  Status scalar(JsonScalar& value) override;
  Status begin(JsonContainer container) override;
  Result<JsonSink*> member(std::string& key, std::uint64_t offset) override;

 private:
  std::string what_;
  std::function<Status(std::string&)> on_key_;
  JsonSink* value_;
};

}  // namespace vouchfs::formats
