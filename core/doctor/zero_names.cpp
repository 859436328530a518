#include "doctor/zero_names.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/units.h"
#include "doctor/float_kinds.h"

namespace vouchfs::doctor {
namespace {

constexpr std::array<std::string_view, 29> kQuietWords = {"bias",     "biases", "norm", "layernorm", "rmsnorm", "groupnorm", "batchnorm", "ln",     "bn",
                                                          "beta",     "gamma",  "mean", "var",       "tracked", "mask",      "masks",     "masked", "ids",
                                                          "position", "inv",    "freq", "qzeros",    "zeros",   "zero",      "offset",    "g",
                                                          // Of an optimizer ("optimizer.state.0.exp_avg"): zero until there is a gradient.
                                                          "optimizer", "momentum", "exp"};
constexpr std::array<std::string_view, 10> kRowWords = {"embed", "embedding", "embeddings", "embd", "wte", "wpe", "shared", "head", "output", "embeds"};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

// A word without the number at its end: "norm1", "ln_2", "bn3".
std::string_view without_digits(std::string_view word) {
  while (!word.empty() && word.back() >= '0' && word.back() <= '9') word.remove_suffix(1);
  return word;
}

template <class Is>
bool any_word(const std::string& name, Is is) {
  const std::string text = lower(name);
  constexpr std::string_view kSeparators = "._/:";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(kSeparators, at), text.size());
    if (is(without_digits(std::string_view(text).substr(at, end - at)))) return true;
    at = end + 1;
  }
  return false;
}

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_quiet_word(std::string_view word) { return holds(kQuietWords, word) || word.ends_with("norm") || word.ends_with("layernorm"); }

bool is_called_weight(const std::string& name) {
  return any_word(name, [](std::string_view word) { return word == "weight" || word == "weights" || word == "kernel" || word == "qweight"; });
}

}  // namespace

bool may_be_zero(const formats::Tensor& tensor) {
  if (tensor.bytes() == 0 || any_word(tensor.name, is_quiet_word)) return true;
  const bool whole_numbers = !float_kind(tensor.dtype) && is_plain_dtype(tensor.dtype);
  return (tensor.bytes() < kBlockBytes || whole_numbers) && !is_called_weight(tensor.name);
}

bool may_have_zero_rows(const formats::Tensor& tensor) {
  return any_word(tensor.name, [](std::string_view word) { return holds(kRowWords, word); });
}

}  // namespace vouchfs::doctor
