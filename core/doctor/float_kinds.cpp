#include "doctor/float_kinds.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace vouchfs::doctor {
namespace {

constexpr FloatKind kHalf{2, 0x7C00, 0x7C00, 0x03FF};
constexpr FloatKind kBrain{2, 0x7F80, 0x7F80, 0x007F};
constexpr FloatKind kSingle{4, 0x7F800000, 0x7F800000, 0x007FFFFF};
constexpr FloatKind kDouble{8, 0x7FF0000000000000, 0x7FF0000000000000, 0x000FFFFFFFFFFFFF};
constexpr FloatKind kE5M2{1, 0x7C, 0x7C, 0x03};
constexpr FloatKind kE4M3{1, 0x7F, 0x7F, 0};
constexpr FloatKind kFnuz{1, 0xFF, 0x80, 0};
constexpr FloatKind kE8M0{1, 0xFF, 0xFF, 0};

struct NamedKind {
  std::string_view name;
  FloatKind kind;
};
constexpr std::array<NamedKind, 22> kKinds = {{{"F16", kHalf},           {"BF16", kBrain},           {"F32", kSingle},
                                               {"F64", kDouble},         {"C64", kSingle},           {"F8_E5M2", kE5M2},
                                               {"F8_E4M3", kE4M3},       {"F8_E8M0", kE8M0},         {"F8_E4M3FNUZ", kFnuz},
                                               {"F8_E5M2FNUZ", kFnuz},   {"float16", kHalf},         {"bfloat16", kBrain},
                                               {"float32", kSingle},     {"float64", kDouble},       {"complex32", kHalf},
                                               {"complex64", kSingle},   {"complex128", kDouble},    {"float8_e5m2", kE5M2},
                                               {"float8_e4m3fn", kE4M3}, {"float8_e4m3fnuz", kFnuz}, {"float8_e5m2fnuz", kFnuz},
                                               {"float8_e8m0fnu", kE8M0}}};
constexpr std::array<std::string_view, 23> kPlain = {"BOOL",   "U8",    "I8",    "U16",    "I16",    "U32",    "I32",    "U64",
                                                     "I64",    "bool",  "uint8", "int8",   "uint16", "int16",  "uint32", "int32",
                                                     "uint64", "int64", "I8x4",  "quint8", "qint8",  "qint32", "uint4"};

// Words looked at between two decisions. Constant, so that compilers turn the loop into vector instructions.
constexpr std::size_t kChunk = 1024;

template <class Word>
bool any_matches(const Word* words, Word mask, Word value) {
  Word any = 0;
  for (std::size_t i = 0; i < kChunk; ++i) any = static_cast<Word>(any | static_cast<Word>((words[i] & mask) == value ? 1 : 0));
  return any != 0;
}

}  // namespace

std::optional<FloatKind> float_kind(const std::string& dtype) {
  for (const NamedKind& named : kKinds)
    if (named.name == dtype) return named.kind;
  return std::nullopt;
}

bool is_plain_dtype(const std::string& dtype) { return std::find(kPlain.begin(), kPlain.end(), dtype) != kPlain.end(); }

void NotFinite::count(std::uint64_t bits, std::uint64_t offset) {
  if ((bits & kind_.mask) != kind_.value) return;
  if (nans_ + infinities_ == 0) first_ = offset;
  if (kind_.fraction != 0 && (bits & kind_.fraction) == 0)
    ++infinities_;
  else
    ++nans_;
}

template <class Word>
void NotFinite::take_words(std::span<const std::uint8_t> bytes) {
  const auto mask = static_cast<Word>(kind_.mask);
  const auto value = static_cast<Word>(kind_.value);
  alignas(64) std::array<Word, kChunk> words;
  const std::size_t count_all = bytes.size() / sizeof(Word);
  for (std::size_t done = 0; done < count_all; done += kChunk) {
    const std::size_t now = std::min(kChunk, count_all - done);
    std::memcpy(words.data(), bytes.data() + done * sizeof(Word), now * sizeof(Word));
    if (now < kChunk) std::fill(words.begin() + static_cast<std::ptrdiff_t>(now), words.end(), static_cast<Word>(~value));
    if (!any_matches(words.data(), mask, value)) continue;
    for (std::size_t i = 0; i < now; ++i) count(words[i], at_ + (done + i) * sizeof(Word));
  }
}

void NotFinite::take_whole(std::span<const std::uint8_t> bytes) {
  switch (kind_.bytes) {
    case 1:
      take_words<std::uint8_t>(bytes);
      break;
    case 2:
      take_words<std::uint16_t>(bytes);
      break;
    case 4:
      take_words<std::uint32_t>(bytes);
      break;
    default:
      take_words<std::uint64_t>(bytes);
  }
  at_ += bytes.size();
}

void NotFinite::take(std::span<const std::uint8_t> bytes) {
  if (carried_ != 0) {
    const std::size_t more = std::min<std::size_t>(kind_.bytes - carried_, bytes.size());
    std::memcpy(carry_.data() + carried_, bytes.data(), more);
    carried_ += more;
    bytes = bytes.subspan(more);
    if (carried_ < kind_.bytes) return;
    carried_ = 0;
    take_whole(std::span(carry_).first(kind_.bytes));
  }
  const std::size_t whole = bytes.size() / kind_.bytes * kind_.bytes;
  if (whole != 0) take_whole(bytes.first(whole));
  carried_ = bytes.size() - whole;
  if (carried_ != 0) std::memcpy(carry_.data(), bytes.data() + whole, carried_);
}

}  // namespace vouchfs::doctor
