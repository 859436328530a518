#include "doctor/catalogue.h"

#include <algorithm>

#include "doctor/codes.h"

namespace vouchfs::doctor {
namespace {

std::vector<CodeFacts> join() {
  std::vector<CodeFacts> all;
  for (const auto part : {file_codes(), safetensors_codes(), index_codes(), torch_codes(), gguf_codes(), store_codes(), deep_codes()})
    all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end(), [](const CodeFacts& a, const CodeFacts& b) { return a.code < b.code; });
  return all;
}

}  // namespace

std::span<const CodeFacts> catalogue() {
  static const std::vector<CodeFacts> all = join();
  return all;
}

const CodeFacts* find_code(std::string_view code) {
  const auto all = catalogue();
  const auto at = std::lower_bound(all.begin(), all.end(), code, [](const CodeFacts& facts, std::string_view wanted) { return facts.code < wanted; });
  return at != all.end() && at->code == code ? &*at : nullptr;
}

}  // namespace vouchfs::doctor
