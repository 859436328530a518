#include "doctor/loader_texts.h"

#include <array>
#include <optional>

#include "formats/weight_file.h"

namespace vouchfs::doctor {
namespace {

enum class Family { safetensors, torch, gguf, json };

struct Mark {
  std::string_view begin;  // of a text
  Family family;
};
constexpr std::array<Mark, 11> kMarks = {{{"Error while deserializing header", Family::safetensors},
                                          {"PytorchStreamReader", Family::torch},
                                          {"invalid load key", Family::torch},
                                          {"filename 'storages'", Family::torch},  // zeros pass for an empty tar archive, torch's first form
                                          {"Weights only load failed", Family::torch},
                                          {"EOFError", Family::torch},
                                          {"unexpected EOF", Family::torch},
                                          {"invalid magic characters", Family::gguf},
                                          {"gguf_init", Family::gguf},
                                          {"json.decoder", Family::json},
                                          {"Expecting value", Family::json}}};

std::optional<Family> family_of_text(std::string_view text) {
  for (const Mark& mark : kMarks)
    if (text.starts_with(mark.begin)) return mark.family;
  return std::nullopt;
}

std::optional<Family> family_of_name(std::string_view file) {
  if (file.ends_with(".json")) return Family::json;
  const auto format = formats::weight_format_of_name(file.substr(file.rfind('/') + 1));
  if (!format) return std::nullopt;
  switch (*format) {
    case formats::WeightFormat::safetensors:
      return Family::safetensors;
    case formats::WeightFormat::gguf:
      return Family::gguf;
    case formats::WeightFormat::torch:
      break;
  }
  return Family::torch;
}

}  // namespace

std::vector<std::string> texts_for(std::string_view file, std::span<const std::string_view> texts) {
  const std::optional<Family> wanted = family_of_name(file);
  std::vector<std::string> kept;
  for (const std::string_view text : texts)
    if (const auto family = family_of_text(text); !wanted || !family || *family == *wanted) kept.emplace_back(text);
  return kept;
}

}  // namespace vouchfs::doctor
