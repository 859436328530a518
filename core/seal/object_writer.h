// object_writer.h: writes the fields of one JSON object, with commas between them and no blanks. Internal to core/seal.
// Layer: core/seal (3).
// Owns:  nothing; appends to the caller's text, the closing brace when it ends.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json_reader.h"

namespace vouchfs::seal {

// Call in the order of the keys.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;
  ~ObjectWriter() { out_ += '}'; }

  void key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    formats::append_json_string(out_, name);
    out_ += ':';
  }
  void text(std::string_view name, std::string_view value) {
    key(name);
    formats::append_json_string(out_, value);
  }
  void number(std::string_view name, std::uint64_t value) {
    key(name);
    out_ += std::to_string(value);
  }
  template <class Items, class Write>
  void list(std::string_view name, const Items& items, Write write) {
    key(name);
    out_ += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ',';
      first = false;
      write(item);
    }
    out_ += ']';
  }
  void texts(std::string_view name, const std::vector<std::string>& items) {
    list(name, items, [this](const std::string& item) { formats::append_json_string(out_, item); });
  }
  void map(std::string_view name, const std::map<std::string, std::string>& items) {
    key(name);
    ObjectWriter object(out_);
    for (const auto& [item, value] : items) object.text(item, value);
  }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace vouchfs::seal
