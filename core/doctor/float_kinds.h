// float_kinds.h: which bit patterns of a floating point type are NaN or infinite, and counting them. Internal to core/doctor.
// Layer:  core/doctor (5).
// Source: IEEE 754; OCP 8-bit floating point (E4M3 has no infinity, E5M2 has); the FNUZ forms have one NaN, 0x80; E8M0 has one, 0xff.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace vouchfs::doctor {

// A value is not finite when (bits & mask) == value. It is infinite when it has a fraction and the fraction is 0, else NaN.
struct FloatKind {
  unsigned bytes = 0;
  std::uint64_t mask = 0;
  std::uint64_t value = 0;
  std::uint64_t fraction = 0;  // 0: the type has no infinity
};
// By the name that safetensors, torch or GGUF give; complex types count as their parts. nullopt for types without NaN, and for quantized ones.
std::optional<FloatKind> float_kind(const std::string& dtype);
// Whole numbers and truth values, by the same names.
bool is_plain_dtype(const std::string& dtype);

// Counts over the bytes of one tensor, given in order in pieces of any size.
class NotFinite {
 public:
  explicit NotFinite(const FloatKind& kind) noexcept : kind_(kind) {}
  // Cost: several GB/s while everything is finite.
  void take(std::span<const std::uint8_t> bytes);

  std::uint64_t nans() const noexcept { return nans_; }
  std::uint64_t infinities() const noexcept { return infinities_; }
  std::uint64_t values() const noexcept { return at_ / kind_.bytes; }
  // Of the first value that is not finite, in bytes from the start of the tensor. Requires that there is one.
  std::uint64_t first() const noexcept { return first_; }
  const FloatKind& kind() const noexcept { return kind_; }

 private:
  template <class Word>
  void take_words(std::span<const std::uint8_t> bytes);
  void count(std::uint64_t bits, std::uint64_t offset);
  void take_whole(std::span<const std::uint8_t> bytes);

  FloatKind kind_;
  std::uint64_t at_ = 0;                 // bytes taken
  std::array<std::uint8_t, 8> carry_{};  // of a value that a piece cut
  std::size_t carried_ = 0;
  std::uint64_t nans_ = 0;
  std::uint64_t infinities_ = 0;
  std::uint64_t first_ = 0;
};

}  // namespace vouchfs::doctor
