// memory_room.h: how much memory this process may still take without anybody being killed for it.
// Layer:   core/base (0).
// Threads: no state; safe for concurrent calls.
// Cost:    reads a few small files of /proc and of the cgroups above the process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace vouchfs {

// Where the kernel says it; other places are for tests.
struct MemoryPlaces {
  std::string meminfo = "/proc/meminfo";
  std::string own_cgroup = "/proc/self/cgroup";
  std::string cgroups = "/sys/fs/cgroup";  // version 2
};

// Bytes: MemAvailable of the machine or, where that is less, what the memory.max of a cgroup leaves beside the memory in it that cannot be
// dropped (anonymous and shared). Absent when the kernel does not say.
std::optional<std::uint64_t> memory_room(const MemoryPlaces& places = {});

}  // namespace vouchfs
