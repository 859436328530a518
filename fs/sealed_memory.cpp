#include "fs/sealed_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

namespace vouchfs::fs {
namespace {

constexpr std::size_t kLongestName = 200;  // of 249 that the kernel takes
constexpr int kSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
#ifndef MFD_NOEXEC_SEAL  // Linux 6.3; without one of its flags the kernel grumbles in its log
constexpr unsigned kNoExec = 8U;
#else
constexpr unsigned kNoExec = MFD_NOEXEC_SEAL;
#endif

}  // namespace

Result<UniqueFd> make_memory(const std::string& name) {
  const std::string shown = name.substr(0, kLongestName);
  UniqueFd memory(::memfd_create(shown.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING | kNoExec));
  if (!memory.valid() && errno == EINVAL) memory.reset(::memfd_create(shown.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.valid()) return fail(errno_error(errno, "cannot make a file in memory", name));
  return memory;
}

Status seal_memory(int memory, std::uint64_t bytes) {
  struct stat facts {};
  if (::fstat(memory, &facts) != 0) return fail(errno_error(errno, "cannot look at a file in memory"));
  if (static_cast<std::uint64_t>(facts.st_size) != bytes) return fail(ErrorCode::internal, "a file in memory is not as long as it must be");
  if (::fcntl(memory, F_ADD_SEALS, kSeals) != 0) return fail(errno_error(errno, "cannot seal a file in memory"));
  const int seals = ::fcntl(memory, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) return fail(ErrorCode::internal, "a file in memory did not keep its seals");
  return {};
}

}  // namespace vouchfs::fs
