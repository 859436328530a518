#include "ingest/identity.h"

#include <algorithm>
#include <ctime>

namespace vouchfs::ingest {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kTickNs = 20'000'000;  // twice the longest tick (CONFIG_HZ=100)

std::int64_t in_ns(const timespec& time) noexcept { return static_cast<std::int64_t>(time.tv_sec) * kSecond + time.tv_nsec; }

}  // namespace

FileIdentity identity_of(const struct stat& info) noexcept {
  FileIdentity identity;
  identity.bytes = static_cast<std::uint64_t>(info.st_size);
  identity.mtime_ns = in_ns(info.st_mtim);
  identity.ctime_ns = in_ns(info.st_ctim);
  identity.inode = info.st_ino;
  identity.device = info.st_dev;
  return identity;
}

std::int64_t now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return in_ns(now);
}

void wait_out_tick(const FileIdentity& identity) noexcept {
  const std::int64_t age = now_ns() - std::max(identity.ctime_ns, identity.mtime_ns);
  if (age < 0 || age >= kTickNs) return;  // a time in the future says nothing about now
  timespec left{0, static_cast<long>(kTickNs - age)};
  while (::nanosleep(&left, &left) != 0) {
  }
}

}  // namespace vouchfs::ingest
