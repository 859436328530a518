// kernel_verity.h: whether the kernel itself verifies every page of a file against the digest in our seal (fs-verity).
// Layer:   fs (6).
// Threads: no state; safe for concurrent calls.
#pragma once

#include <array>
#include <cstdint>

#include "hash/digest.h"

namespace vouchfs::fs {

// What the kernel says of an open file.
struct VerityAnswer {
  bool attribute = false;  // STATX_ATTR_VERITY, which only file systems of the kernel set
  bool measured = false;   // FS_IOC_MEASURE_VERITY gave a digest; anybody who writes a FUSE file system can do that
  std::uint16_t algorithm = 0;
  std::uint16_t digest_bytes = 0;
  std::array<std::uint8_t, 64> digest{};
};

VerityAnswer ask_verity(int file);
// Pure: both say so, and the digest is SHA-256 and the sealed one.
bool kernel_verifies(const VerityAnswer& answer, const hash::Digest& sealed);

}  // namespace vouchfs::fs
