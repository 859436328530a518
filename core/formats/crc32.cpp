#include "formats/crc32.h"

#include <zlib.h>

namespace vouchfs::formats {

void Crc32::add(std::span<const std::uint8_t> bytes) noexcept {
  if (bytes.empty()) return;  // zlib takes a null pointer for a wish to start over
  value_ = static_cast<std::uint32_t>(::crc32_z(value_, bytes.data(), bytes.size()));
}

}  // namespace vouchfs::formats
