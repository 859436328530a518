#include "base/bytes.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace vouchfs {
namespace {

constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

// Power of 1024 that a suffix stands for, or -1.
int power_of(std::string_view suffix) {
  constexpr std::string_view letters = "KMGT";
  if (suffix.empty()) return 0;
  const char letter = suffix.front() >= 'a' ? static_cast<char>(suffix.front() - 'a' + 'A') : suffix.front();
  const auto at = letters.find(letter);
  const std::string_view rest = suffix.substr(1);
  const bool known_rest = rest.empty() || rest == "B" || rest == "iB";
  return at == std::string_view::npos || !known_rest ? -1 : static_cast<int>(at) + 1;
}

double seconds_in(std::string_view suffix) {
  if (suffix.empty() || suffix == "s") return 1;
  if (suffix == "m") return 60;
  if (suffix == "h") return 3600;
  if (suffix == "d") return 86400;
  return 0;
}

}  // namespace

std::string format_bytes(std::uint64_t bytes) {
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const int power = power_of(text.substr(static_cast<std::size_t>(end - text.data())));
  const auto refuse = [&] { return fail(ErrorCode::invalid_argument, "'" + std::string(text) + "' is no size", {}, "write bytes, or a number with K, M, G or T"); };
  if (error != std::errc{} || power < 0) return refuse();
  for (int i = 0; i < power; ++i) {
    if (value > UINT64_MAX / 1024) return refuse();
    value *= 1024;
  }
  return value;
}

Result<double> parse_seconds(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const double unit = seconds_in(text.substr(static_cast<std::size_t>(end - text.data())));
  if (error != std::errc{} || unit == 0 || !(value >= 0) || value > 1e12)
    return fail(ErrorCode::invalid_argument, "'" + std::string(text) + "' is no duration", {}, "write seconds, or a number with s, m, h or d");
  return value * unit;
}

}  // namespace vouchfs
