#include "fs/kernel_verity.h"

#include <fcntl.h>
#include <linux/fsverity.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <algorithm>

#ifndef STATX_ATTR_VERITY
#define STATX_ATTR_VERITY 0x00100000  // include/uapi/linux/stat.h
#endif

namespace vouchfs::fs {

VerityAnswer ask_verity(int file) {
  VerityAnswer answer;
  struct statx facts {};
  if (::statx(file, "", AT_EMPTY_PATH, 0, &facts) == 0)
    answer.attribute = (facts.stx_attributes_mask & STATX_ATTR_VERITY) != 0 && (facts.stx_attributes & STATX_ATTR_VERITY) != 0;
  struct {  // struct fsverity_digest with room behind it
    std::uint16_t algorithm, digest_bytes;
    std::array<std::uint8_t, 64> digest;
  } asked{0, 64, {}};
  if (::ioctl(file, FS_IOC_MEASURE_VERITY, &asked) != 0) return answer;  // ENOTTY, EOPNOTSUPP: no such thing here; ENODATA: not this file
  answer.measured = true;
  answer.algorithm = asked.algorithm;
  answer.digest_bytes = asked.digest_bytes;
  answer.digest = asked.digest;
  return answer;
}

bool kernel_verifies(const VerityAnswer& answer, const hash::Digest& sealed) {
  const bool sha256 = answer.algorithm == FS_VERITY_HASH_ALG_SHA256 && answer.digest_bytes == sealed.size();
  return answer.attribute && answer.measured && sha256 && std::equal(sealed.begin(), sealed.end(), answer.digest.begin());
}

}  // namespace vouchfs::fs
