#include "base/memory_room.h"

#include <algorithm>
#include <fstream>

namespace vouchfs {
namespace {

// The number after a word at the start of a line: "MemAvailable:  123 kB", "anon 456".
std::optional<std::uint64_t> number_after(const std::string& path, const std::string& wanted) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    std::uint64_t number = 0;
    if (word == wanted && file >> number) return number;
    file.clear();
    file.ignore(4096, '\n');
  }
  return std::nullopt;
}

std::string own_group(const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("0::")) return line.substr(3);
  return {};
}

std::optional<std::uint64_t> room_in(const std::string& folder) {
  std::ifstream file(folder + "/memory.max");
  std::uint64_t most = 0;
  if (!(file >> most)) return std::nullopt;  // "max", or no such limit
  const std::string stat = folder + "/memory.stat";
  const std::uint64_t held = number_after(stat, "anon").value_or(0) + number_after(stat, "shmem").value_or(0);
  return most - std::min(most, held);
}

}  // namespace

std::optional<std::uint64_t> memory_room(const MemoryPlaces& places) {
  const auto available = number_after(places.meminfo, "MemAvailable:");
  std::optional<std::uint64_t> room = available ? std::optional(*available * 1024) : std::nullopt;
  std::string group = own_group(places.own_cgroup);
  while (!group.empty() && group.back() == '/') group.pop_back();
  for (;; group.resize(group.rfind('/'))) {
    if (const auto here = room_in(places.cgroups + group)) room = std::min(*here, room.value_or(*here));
    if (group.find('/') == std::string::npos) return room;
  }
}

}  // namespace vouchfs
