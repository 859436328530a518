// Any bytes as a tensor table.
#include <algorithm>
#include <cstdint>
#include <string>

#include "require.h"
#include "seal/manifest.h"
#include "seal/tensor_table.h"

using namespace vouchfs;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto table = seal::parse_tensor_table({reinterpret_cast<const char*>(data), size});
  if (!table) {
    REQUIRE(table.error().code == ErrorCode::bad_format);
    return 0;
  }
  for (const seal::TableFile& file : table->files) {
    REQUIRE(seal::check_path(file.path));
    for (const formats::Tensor& tensor : file.tensors) {
      REQUIRE(tensor.begin <= tensor.end);
      if (tensor.bytes() == 0) continue;
      const auto names = seal::tensors_in(file, tensor.begin, 1);
      REQUIRE(std::find(names.begin(), names.end(), tensor.name) != names.end());
      REQUIRE(names.size() == 1 || seal::may_overlap(file.format));
    }
  }
  for (const seal::FileFix& fix : table->fixes) {
    REQUIRE(seal::check_path(fix.path));
    REQUIRE(seal::find_fix(*table, fix.path) == &fix);
    REQUIRE(!fix.kinds.empty() && fix.pieces.size() <= seal::kMaxFixPieces);
    std::uint64_t sum = 0;
    for (const seal::FixPiece& piece : fix.pieces) {
      REQUIRE(piece.bytes() > 0 && piece.literal.size() <= seal::kMaxLiteralBytes && piece.begin <= piece.end);
      sum += piece.bytes();
    }
    REQUIRE(sum == fix.bytes);
  }
  const std::string text = seal::write_tensor_table(*table);
  const auto again = seal::parse_tensor_table(text);
  REQUIRE(again);
  REQUIRE(again->indexes == table->indexes);
  REQUIRE(again->fixes == table->fixes);
  REQUIRE(seal::write_tensor_table(*again) == text);
  return 0;
}
