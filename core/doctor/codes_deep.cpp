// The codes about what tensor data holds.
#include "doctor/codes.h"

namespace vouchfs::doctor {

std::span<const CodeFacts> deep_codes() {
  using enum Severity;
  using enum Verdict;
  static const std::vector<CodeFacts> kCodes = {
      {"data.zero_tensor",
       warning,
       whole,
       "a weight tensor is all zeros",
       {},
       "compare with the publisher's digest: zeros are what an interrupted write leaves; a save that failed writes them too"},
      {"data.zero_run", warning, whole, "a long run of zero blocks inside tensor data", {}, "compare with the publisher's digest, or fetch the file again"},
      {"data.hole",
       warning,
       whole,
       "tensor data that was never written to disk",
       {},
       "compare with the publisher's digest (--deep), or fetch the file again: a preallocated download leaves such holes"},
      {"data.not_finite",
       note,
       whole,
       "values that are NaN or infinite",
       {},
       "some models have them on purpose (masks); if the output is NaN, this is where it starts"},
  };
  return kCodes;
}

}  // namespace vouchfs::doctor
