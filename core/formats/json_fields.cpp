#include "formats/json_fields.h"

#include <utility>

namespace vouchfs::formats {
namespace {

Status wrong_kind(const std::string& what, const char* wanted, const char* got) {
  return fail(ErrorCode::bad_format, "'" + what + "' must be " + wanted + ", not " + got);
}
const char* name_of(JsonContainer container) { return container == JsonContainer::object ? "an object" : "an array"; }

}  // namespace

Status JsonLeaf::begin(JsonContainer container) { return wrong_kind(what_, "a single value", name_of(container)); }

JsonLeaf::Take take_text(std::string what, std::size_t max_bytes, std::function<Status(std::string&&)> then) {
  return [what = std::move(what), max_bytes, then = std::move(then)](JsonScalar& value) -> Status {
    if (value.kind != JsonScalar::Kind::text) return wrong_kind(what, "a string", value.kind_name());
    if (value.text.size() > max_bytes) return fail(ErrorCode::bad_format, "'" + what + "' is longer than " + std::to_string(max_bytes) + " bytes");
    return then(std::move(value.text));
  };
}

JsonLeaf::Take take_number(std::string what, std::uint64_t max, std::function<Status(std::uint64_t)> then) {
  return [what = std::move(what), max, then = std::move(then)](JsonScalar& value) -> Status {
    if (value.kind != JsonScalar::Kind::number) return wrong_kind(what, "an unsigned integer", value.kind_name());
    if (value.number > max) return fail(ErrorCode::bad_format, "'" + what + "' is " + std::to_string(value.number) + ", more than " + std::to_string(max));
    return then(value.number);
  };
}

Status JsonObject::scalar(JsonScalar& value) { return wrong_kind(what_, "an object", value.kind_name()); }

Status JsonObject::begin(JsonContainer container) {
  if (container != JsonContainer::object) return wrong_kind(what_, "an object", name_of(container));
  for (Field& field : fields_) field.seen = false;
  return on_begin_ ? on_begin_() : Status{};
}

Result<JsonSink*> JsonObject::member(std::string& key, std::uint64_t) {
  for (Field& field : fields_) {
    if (field.name != key) continue;
    if (std::exchange(field.seen, true)) return fail(ErrorCode::bad_format, "the key '" + key + "' comes twice in '" + what_ + "'");
    return field.sink;
  }
  return nullptr;
}

Status JsonObject::end(std::uint64_t) {
  for (const Field& field : fields_)
    if (field.required && !field.seen) return fail(ErrorCode::bad_format, "the key '" + field.name + "' is missing in '" + what_ + "'");
  return on_end_ ? on_end_() : Status{};
}

Status JsonList::scalar(JsonScalar& value) { return wrong_kind(what_, "an array", value.kind_name()); }

Status JsonList::begin(JsonContainer container) {
  if (container != JsonContainer::array) return wrong_kind(what_, "an array", name_of(container));
  count_ = 0;
  return on_begin_ ? on_begin_() : Status{};
}

Result<JsonSink*> JsonList::element() {
  if (++count_ > max_) return fail(ErrorCode::bad_format, "'" + what_ + "' has more than " + std::to_string(max_) + " items");
  return item_;
}

Status JsonMap::scalar(JsonScalar& value) { return wrong_kind(what_, "an object", value.kind_name()); }

Status JsonMap::begin(JsonContainer container) {
  if (container != JsonContainer::object) return wrong_kind(what_, "an object", name_of(container));
  return {};
}

Result<JsonSink*> JsonMap::member(std::string& key, std::uint64_t) {
  VOUCHFS_TRY(on_key_(key));
  return value_;
}

}  // namespace vouchfs::formats
