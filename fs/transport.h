// transport.h: every byte to and from /dev/fuse passes here (fuse_session_custom_io): one place to capture INIT, to set reply flags
// that this libfuse cannot express, to count requests, and later to journal them and to inject faults.
// Layer:   fs (6). The kernel's wire structures come from <linux/fuse.h>.
// Threads: both hooks run on every libfuse worker at once. The INIT request comes first and alone, so its fields need no lock.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace vouchfs::fs {

class Transport {
 public:
  // Counts every request in `requests`, which must outlive it.
  explicit Transport(std::atomic<std::uint64_t>& requests) : requests_(requests) {}
  // One request from the device. Returns what read(2) returned.
  ssize_t read(int fd, void* buffer, std::size_t length);
  // One reply or notification to the device.
  ssize_t write(int fd, const iovec* parts, int count);

  // Before INIT: agree on passthrough when the kernel offers it.
  void want_passthrough() noexcept { passthrough_wanted_ = true; }
  bool passthrough_agreed() const;

  // The INIT request as the kernel sent it; empty before it came.
  const std::vector<std::uint8_t>& init_request() const noexcept { return init_request_; }

 private:
  void note_request(const void* buffer, std::size_t length);
  bool is_init_reply(const iovec* parts, int count) const;
  ssize_t write_init_reply(int fd, const iovec* parts, int count);

  std::atomic<std::uint64_t>& requests_;
  bool passthrough_wanted_ = false;  // const once INIT came
  std::vector<std::uint8_t> init_request_;
  std::atomic<std::uint64_t> init_unique_{0};
};

}  // namespace vouchfs::fs
