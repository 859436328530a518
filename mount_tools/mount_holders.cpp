#include "mount_tools/mount_holders.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace vouchfs::mount_tools {
namespace {

namespace stdfs = std::filesystem;

bool below(const std::string& path, const std::string& mount_point) { return path == mount_point || path.starts_with(mount_point + "/"); }

bool links_below(const stdfs::path& link, const std::string& mount_point) {
  std::error_code failed;
  const stdfs::path target = stdfs::read_symlink(link, failed);  // readlink(2) does not ask the mount
  return !failed && below(target.string(), mount_point);
}

bool opens_below(const stdfs::path& process, const std::string& mount_point) {
  std::error_code failed;
  for (stdfs::directory_iterator at(process / "fd", failed), end; !failed && at != end; at.increment(failed))
    if (links_below(at->path(), mount_point)) return true;
  return false;
}

bool maps_below(const stdfs::path& process, const std::string& mount_point) {
  std::ifstream maps(process / "maps");
  for (std::string line; std::getline(maps, line);) {
    const auto slash = line.find('/');
    if (slash != std::string::npos && below(line.substr(slash), mount_point)) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> holders_of(const std::string& mount_point) {
  std::vector<std::string> found;
  std::error_code failed;
  for (stdfs::directory_iterator at("/proc", failed), end; !failed && at != end; at.increment(failed)) {
    const std::string pid = at->path().filename().string();
    if (!std::all_of(pid.begin(), pid.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) continue;
    const bool holds = links_below(at->path() / "cwd", mount_point) || links_below(at->path() / "root", mount_point) ||
                       opens_below(at->path(), mount_point) || maps_below(at->path(), mount_point);
    if (!holds) continue;
    std::string name;
    std::ifstream(at->path() / "comm") >> name;
    found.push_back(pid + " (" + name + ")");
  }
  return found;
}

}  // namespace vouchfs::mount_tools
