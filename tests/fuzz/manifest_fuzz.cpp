// Any bytes as manifest.json.
#include <cstdint>
#include <string>

#include "require.h"
#include "seal/manifest.h"

using namespace vouchfs;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto manifest = seal::parse_manifest({reinterpret_cast<const char*>(data), size});
  if (!manifest) {
    REQUIRE(manifest.error().code == ErrorCode::bad_format);
    REQUIRE(!manifest.error().message.empty());
    return 0;
  }
  for (std::size_t i = 0; i < manifest->files.size(); ++i) {
    REQUIRE(seal::check_path(manifest->files[i].path));
    REQUIRE(i == 0 || manifest->files[i - 1].path < manifest->files[i].path);
  }
  const std::string text = seal::write_manifest(*manifest);
  const auto again = seal::parse_manifest(text);
  REQUIRE(again && *again == *manifest);
  REQUIRE(seal::write_manifest(*again) == text);
  return 0;
}
