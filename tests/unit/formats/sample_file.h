// sample_file.h: safetensors files in memory, good and broken, and the reader's verdict on them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "formats/safetensors.h"

namespace vouchfs::formats::test {

// 8 bytes of length, the header, the data.
inline std::string file_of(std::string_view json, std::string_view data = {}) {
  std::string file;
  for (unsigned i = 0; i < 8; ++i) file += static_cast<char>(json.size() >> (8 * i) & 0xFF);
  return file + std::string(json) + std::string(data);
}

inline std::string zeros(std::size_t count) { return std::string(count, '\0'); }

// F32 [2,3] at 0 to 24, I64 [2] at 24 to 40.
inline constexpr std::string_view kTwoTensors =
    R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"b":{"dtype":"I64","shape":[2],"data_offsets":[24,40]}})";
inline std::string two_tensors() { return file_of(kTwoTensors, zeros(40)); }

// A header with one tensor: dtype, shape and data_offsets as JSON.
inline std::string one_tensor(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return R"({"x":{"dtype":")" + std::string(dtype) + R"(","shape":)" + std::string(shape) + R"(,"data_offsets":)" + std::string(offsets) + "}}";
}

inline ReadAt reader_of(const std::string& file) {
  return [&file](std::uint64_t offset, std::span<std::uint8_t> dst) -> Result<std::size_t> {
    if (offset >= file.size()) return std::size_t{0};
    const std::size_t count = std::min<std::size_t>(dst.size(), file.size() - static_cast<std::size_t>(offset));
    std::memcpy(dst.data(), file.data() + offset, count);
    return count;
  };
}

inline SafetensorsHeader read(const std::string& file) {
  auto header = read_safetensors_header(file.size(), reader_of(file));
  if (!header) {
    ADD_FAILURE() << header.error().describe();
    return {};
  }
  return *std::move(header);
}

// The name of the first rule broken; "ok" when none is.
inline std::string verdict(const std::string& file) {
  const auto header = read(file);
  if (!header.problem) return "ok";
  EXPECT_TRUE(header.tensors.empty());
  return header.problem->name;
}

inline HeaderProblem problem_of(const std::string& file) {
  const auto header = read(file);
  EXPECT_TRUE(header.problem.has_value());
  return header.problem.value_or(HeaderProblem{});
}

}  // namespace vouchfs::formats::test
