// Any bytes as a torch file: zip, legacy form, or neither.
#include "torch_sound.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  vouchfs::fuzz::check_torch({reinterpret_cast<const char*>(data), size});
  return 0;
}
