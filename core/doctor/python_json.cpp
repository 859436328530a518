#include "doctor/python_json.h"

#include <cctype>
#include <string>

#include "formats/json_reader.h"

namespace vouchfs::doctor {
namespace {

// Takes any value and wants none of its parts.
class AnySink final : public formats::JsonSink {
 public:
  Status scalar(formats::JsonScalar&) override { return {}; }
  Status begin(formats::JsonContainer) override { return {}; }
};

// Puts another text of the same length over what only Python takes, so that offsets stay.
class Plain {
 public:
  explicit Plain(std::string_view text) : text_(text) {}

  std::string run() {
    for (std::size_t at = 0; at < text_.size();) at = in_string_ ? step_in_string(at) : step(at);
    return std::move(text_);
  }

 private:
  std::size_t step(std::size_t at) {
    if (text_[at] == '"') in_string_ = true;
    for (const std::string_view word : {std::string_view("-Infinity"), std::string_view("Infinity"), std::string_view("NaN")}) {
      if (text_.compare(at, word.size(), word) != 0) continue;
      text_.replace(at, word.size(), word.size(), '1');
      return at + word.size();
    }
    return at + 1;
  }

  std::size_t step_in_string(std::size_t at) {
    if (text_[at] == '"') in_string_ = false;
    if (text_[at] != '\\') return at + 1;
    // "\ud83d" stands for half a character: nothing is checked of pairs.
    const bool surrogate = at + 6 <= text_.size() && text_[at + 1] == 'u' && (text_[at + 2] == 'd' || text_[at + 2] == 'D') && text_[at + 3] >= '8' &&
                           std::isxdigit(static_cast<unsigned char>(text_[at + 3])) != 0;
    if (surrogate) text_[at + 2] = text_[at + 3] = '0';
    return at + 2;
  }

  std::string text_;
  bool in_string_ = false;
};

}  // namespace

Status check_python_json(std::string_view text) {
  AnySink sink;
  return formats::read_json(Plain(text).run(), sink);
}

}  // namespace vouchfs::doctor
