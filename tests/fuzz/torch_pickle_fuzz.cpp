// Any bytes as the pickle of a torch file: the archive around it is right, so every input reaches the machine.
#include <string>

#include "tests/support/torch_writer.h"
#include "torch_sound.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vouchfs;
  const std::string pickled(reinterpret_cast<const char*>(data), size);
  fuzz::check_torch(tests::torch_zip(tests::torch_parts(pickled, {{"0", std::string(24, '\0')}, {"1", std::string(16, '\0')}})));
  return 0;
}
