// header_problem.h: the rule that a weight file breaks, as a verdict that a seal can record.
// Layer: core/formats (2). Plain values.
#pragma once

#include <cstdint>
#include <string>

namespace vouchfs::formats {

struct HeaderProblem {
  std::string name;          // the reference's error name ("HeaderTooLarge") where it has one, else ours in the same style; stable
  std::string text;          // what newer versions of the library print for it
  std::string detail;        // what, where and how much, in our words
  std::string tensor;        // the tensor concerned, when there is one
  std::uint64_t offset = 0;  // from the start of the file, where the problem is
  bool operator==(const HeaderProblem&) const = default;
};

}  // namespace vouchfs::formats
