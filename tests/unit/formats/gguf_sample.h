// gguf_sample.h: the reader's verdict on GGUF files in memory.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "formats/gguf.h"
#include "support/gguf_writer.h"
#include "unit/formats/sample_file.h"

namespace vouchfs::formats::test {

using namespace vouchfs::tests;

inline GgufHeader read_gguf(const std::string& file) {
  auto header = read_gguf_header(file.size(), reader_of(file));
  if (!header) {
    ADD_FAILURE() << header.error().describe();
    return {};
  }
  if (header->problem) {
    EXPECT_TRUE(header->tensors.empty());
    EXPECT_FALSE(header->problem->text.empty());
    EXPECT_FALSE(header->problem->detail.empty());
    EXPECT_LE(header->problem->offset, file.size());
  }
  return *std::move(header);
}
inline GgufHeader read_gguf(const GgufWriter& writer) { return read_gguf(writer.write()); }

// The name of the first rule broken; "ok" when none is.
template <class File>
std::string gguf_verdict(const File& file) {
  const auto header = read_gguf(file);
  return header.problem ? header.problem->name : "ok";
}
template <class File>
HeaderProblem gguf_problem(const File& file) {
  const auto header = read_gguf(file);
  EXPECT_TRUE(header.problem.has_value());
  return header.problem.value_or(HeaderProblem{});
}

}  // namespace vouchfs::formats::test
