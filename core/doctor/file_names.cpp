#include "doctor/file_names.h"

#include <algorithm>
#include <array>

#include "formats/shard_index.h"
#include "formats/weight_file.h"

namespace vouchfs::doctor {
namespace {

constexpr std::array<std::string_view, 4> kEndings = {".safetensors", ".bin", ".h5", ".msgpack"};
constexpr std::array<std::string_view, 4> kStems = {"diffusion_pytorch_model", "pytorch_model", "tf_model", "model"};
constexpr std::size_t kUsualDigits = 5;

std::string_view without_ending(std::string_view name) {
  for (const std::string_view ending : kEndings)
    if (name.size() > ending.size() && name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  return {};
}

// ".fp16" -> "fp16"; empty unless the text is one dotted part.
std::string one_part(std::string_view text) {
  if (text.size() < 2 || text.front() != '.' || text.find('.', 1) != std::string_view::npos) return {};
  return std::string(text.substr(1));
}

std::string after_stem(std::string_view text) {
  for (const std::string_view stem : kStems)
    if (text.starts_with(stem)) return one_part(text.substr(stem.size()));
  return {};
}

}  // namespace

std::string variant_of(std::string_view file_name) {
  const auto shard = formats::parse_shard_name(file_name);
  if (!shard) return after_stem(without_ending(file_name));
  if (std::string variant = after_stem(shard->stem); !variant.empty()) return variant;
  const std::string_view tail = without_ending(shard->after_number);
  const auto dot = tail.find('.');
  return dot == std::string_view::npos ? std::string() : one_part(tail.substr(dot));
}

bool is_adapter_name(std::string_view file_name) { return file_name.starts_with("adapter_model."); }
bool is_consolidated_name(std::string_view file_name) { return file_name.starts_with("consolidated"); }

bool is_usual_shard_name(std::string_view file_name) {
  const auto shard = formats::parse_shard_name(file_name);
  if (!shard || shard->digits != kUsualDigits) return false;
  const std::string_view after = shard->after_number;
  return after.size() > 9 && after.substr(4).find_first_not_of("0123456789") == kUsualDigits;
}

std::string_view name_when_done(std::string_view name) {
  for (const std::string_view end : {".part", ".aria2", ".crdownload", ".partial", ".download", ".incomplete", ".tmp"})
    if (name.size() > end.size() && name.ends_with(end)) return name.substr(0, name.size() - end.size());
  return {};
}

bool is_partial_name(std::string_view name) { return !name_when_done(name).empty(); }

bool is_weights_on_the_way(std::string_view name) {
  const std::string_view done = name_when_done(name);
  return formats::weight_format_of_name(done) || done.ends_with(".h5") || done.ends_with(".msgpack") || done.ends_with(".onnx");
}

}  // namespace vouchfs::doctor
