// The tensor infos of a GGUF header: names, shapes, types, offsets, each as the reference checks it.
#include <unordered_set>
#include <utility>

#include "base/utf8.h"
#include "formats/gguf_parts.h"
#include "formats/shown_name.h"

namespace vouchfs::formats {
namespace {

constexpr const char* kInfosText = "failed to read tensor info";
constexpr std::uint64_t kMaxNameBytes = 63;  // GGML_MAX_NAME, its NUL byte taken off
constexpr std::uint32_t kMaxDimensions = 4;

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + number(shape[i]);
  return text + "]";
}

// As the library writes a shape: always four sizes.
std::string four_sizes(const std::vector<std::uint64_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < kMaxDimensions; ++i) text += (i == 0 ? "" : ", ") + (i < shape.size() ? number(shape[i]) : "1");
  return text + ")";
}

// "q6_K", as the library writes types in messages.
std::string in_lower_case(std::string_view type) {
  std::string text(type);
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (text.ends_with("_k")) text.back() = 'K';
  return text;
}

class InfoReader {
 public:
  InfoReader(GgufStream& stream, std::uint64_t count, GgufInfos& into) : stream_(stream), count_(count), into_(into) {}

  MaybeProblem read() {
    for (index_ = 0; index_ < count_; ++index_) {
      if (auto problem = info()) return problem;
      into_.infos.push_back(std::exchange(info_, {}));
    }
    into_.complete = true;
    return std::nullopt;
  }

 private:
  MaybeProblem ended(const std::string& what) const {
    return gguf_ended(stream_, kInfosText, what + " of tensor " + number(index_ + 1) + " of " + number(count_));
  }
  HeaderProblem bad(const char* name, std::string detail) const { return {name, kInfosText, std::move(detail), info_.tensor.name, info_.info_offset}; }
  std::string shown() const { return "tensor '" + shown_name(info_.tensor.name) + "'"; }

  MaybeProblem info() {
    info_.info_offset = stream_.at();
    if (auto problem = read_name()) return problem;
    if (auto problem = read_shape()) return problem;
    if (auto problem = read_type()) return problem;
    std::uint64_t offset = 0;
    if (!stream_.number(offset)) return ended("the offset");
    // Of a claimed place only the end can overflow; the layout rules refuse it, so any large number will do.
    info_.tensor.begin = offset;
    if (__builtin_add_overflow(offset, bytes_, &info_.tensor.end)) info_.tensor.end = UINT64_MAX;
    return std::nullopt;
  }

  MaybeProblem read_name() {
    std::uint64_t bytes = 0;
    if (!stream_.number(bytes)) return ended("the name");
    if (bytes > kMaxNameBytes && (bytes <= stream_.left() || bytes > kMaxGgufString)) {
      HeaderProblem problem = bad("BadName", "the name of tensor " + number(index_ + 1) + " claims " + number(bytes) + " bytes; at most 63 are allowed");
      problem.text = "tensor name " + number(index_) + " is too long: " + number(bytes) + " >= 64";
      if (bytes > kMaxGgufString) problem.text = gguf_string_text(bytes);
      return problem;
    }
    if (bytes > kMaxNameBytes || !stream_.text(bytes, info_.tensor.name)) return ended("the name, " + number(bytes) + " bytes,");
    return check_name();
  }

  MaybeProblem check_name() {
    std::string& name = info_.tensor.name;
    if (!is_utf8(name) || name.find('\0') != std::string::npos) {
      // Such a name cannot be written down as JSON, or is another name for every C program.
      HeaderProblem problem = bad("BadName", "the name of tensor " + number(index_ + 1) + " (\"" + printable(name) + "\") is no text: the header is damaged");
      problem.tensor.clear();
      return problem;
    }
    if (names_.insert(name).second) return std::nullopt;
    HeaderProblem problem = bad("DuplicateTensor", shown() + " comes twice");
    problem.text = "duplicate tensor name '" + shown_name(name) + "'";
    return problem;
  }

  MaybeProblem bad_shape(std::string text, const std::string& detail) const {
    HeaderProblem problem = bad("BadShape", shown() + " " + detail);
    problem.text = "tensor '" + shown_name(info_.tensor.name) + "' " + std::move(text);
    return problem;
  }

  MaybeProblem read_shape() {
    std::uint32_t dimensions = 0;
    if (!stream_.number(dimensions)) return ended("the number of dimensions");
    if (dimensions > kMaxDimensions)
      return bad_shape("has invalid number of dimensions: " + number(dimensions) + " > 4", "has " + number(dimensions) + " dimensions; at most 4 are allowed");
    for (std::uint32_t i = 0; i < dimensions; ++i) {
      std::uint64_t size = 0;
      if (!stream_.number(size)) return ended("the shape");
      if (size > INT64_MAX)
        return bad_shape("dimension " + number(i) + " has invalid number of elements: " + std::to_string(static_cast<std::int64_t>(size)) + " < 0",
                         "has a negative dimension (number " + number(i) + ")");
      info_.tensor.shape.push_back(size);
    }
    return count_elements();
  }

  // The reference's own arithmetic: a product of INT64_MAX and more is refused, and so are some just below.
  MaybeProblem count_elements() {
    const std::vector<std::uint64_t>& shape = info_.tensor.shape;
    elements_ = shape.empty() ? 1 : shape[0];
    for (std::size_t i = 1; i < kMaxDimensions; ++i) {
      const std::uint64_t size = i < shape.size() ? shape[i] : 1;
      if (size != 0 && std::uint64_t{INT64_MAX} / size <= elements_) {
        HeaderProblem problem = *bad_shape("", "has the shape " + shape_text(shape) + ": so many elements do not fit 63 bits");
        problem.text =
            "total number of elements in tensor '" + shown_name(info_.tensor.name) + "' with shape " + four_sizes(shape) + " is >= 9223372036854775807";
        return problem;
      }
      elements_ *= size;
    }
    return std::nullopt;
  }

  MaybeProblem read_type() {
    std::uint32_t id = 0;
    if (!stream_.number(id)) return ended("the type");
    const GgufType* type = find_gguf_type(id);
    if (type == nullptr) return unknown_type(id);
    info_.tensor.dtype = type->name;
    const std::uint64_t row = info_.tensor.shape.empty() ? 1 : info_.tensor.shape[0];
    if (row % type->elements != 0)
      return bad_shape("of type " + number(id) + " (" + in_lower_case(type->name) + ") has " + number(row) +
                           " elements per row, not a multiple of block size (" + number(type->elements) + ")",
                       "has rows of " + number(row) + " elements, but its type " + std::string(type->name) + " comes in blocks of " + number(type->elements));
    if (__builtin_mul_overflow(elements_ / type->elements, std::uint64_t{type->bytes}, &bytes_))
      return bad_shape("with shape " + four_sizes(info_.tensor.shape) + " has a size in bytes > 18446744073709551615",
                       "has the shape " + shape_text(info_.tensor.shape) + ": its size does not fit 64 bits");
    return std::nullopt;
  }

  MaybeProblem unknown_type(std::uint32_t id) {
    HeaderProblem problem =
        bad("UnknownType", shown() + " has the type " + number(id) + ", which is none of ggml's: made by a fork or a newer writer, or damaged");
    problem.text = "tensor '" + shown_name(info_.tensor.name) + "' has invalid ggml type " + std::to_string(static_cast<std::int32_t>(id));
    into_.complete = pass_over_rest();
    return problem;
  }

  // From the offset of the info at hand to the end of the infos.
  bool pass_over_rest() {
    if (!stream_.skip(sizeof(std::uint64_t))) return false;
    for (std::uint64_t i = index_ + 1; i < count_; ++i) {
      std::uint64_t name = 0;
      std::uint32_t dimensions = 0;
      if (!stream_.number(name) || name > kMaxNameBytes || !stream_.skip(name)) return false;
      if (!stream_.number(dimensions) || dimensions > kMaxDimensions) return false;
      if (!stream_.skip(std::uint64_t{dimensions} * 8 + 4 + 8)) return false;
    }
    return true;
  }

  GgufStream& stream_;
  std::uint64_t count_;
  GgufInfos& into_;
  std::uint64_t index_ = 0;
  GgufInfo info_;
  std::uint64_t elements_ = 1;
  std::uint64_t bytes_ = 0;
  std::unordered_set<std::string> names_;
};

}  // namespace

MaybeProblem read_gguf_infos(GgufStream& stream, const GgufHeader& header, GgufInfos& into) { return InfoReader(stream, header.tensor_count, into).read(); }

}  // namespace vouchfs::formats
