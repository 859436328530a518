#include "mount_tools/mount_options.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace vouchfs::mount_tools {
namespace {

constexpr std::array<std::string_view, 5> kHandedOn = {"noexec", "noatime", "nodiratime", "relatime", "dirsync"};
// Already so (ro, nosuid, nodev, default_permissions), or not for us.
constexpr std::array<std::string_view, 22> kWithoutEffect = {"ro",      "rw",      "defaults", "nosuid",  "nodev", "suid",   "dev",       "exec",    "async", "atime", "default_permissions",
                                                             "auto",    "noauto",  "nofail",   "user",    "users", "nouser", "owner",     "group",   "_netdev", "sync", "norelatime"};
constexpr std::array<std::string_view, 6> kIgnoredPrefixes = {"x-", "X-", "comment=", "user=", "fsname=", "subtype="};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '\\' && i + 1 < list.size()) {
      words.back().push_back(list[++i]);
    } else if (list[i] == ',') {
      words.emplace_back();
    } else {
      words.back().push_back(list[i]);
    }
  }
  std::erase(words, std::string());
  return words;
}

bool without_effect(std::string_view word) {
  if (std::find(kWithoutEffect.begin(), kWithoutEffect.end(), word) != kWithoutEffect.end()) return true;
  return std::any_of(kIgnoredPrefixes.begin(), kIgnoredPrefixes.end(), [word](std::string_view prefix) { return word.starts_with(prefix); });
}

// True when the word was one of ours that takes a value.
bool take_value(const std::string& word, MountOptions& options) {
  const auto equals = word.find('=');
  if (equals == std::string::npos) return false;
  std::string key = word.substr(0, equals);
  std::replace(key.begin(), key.end(), '_', '-');
  const std::array<std::pair<std::string_view, std::optional<std::string>*>, 6> takers = {{{"seal", &options.seal},
                                                                                           {"digest", &options.digest},
                                                                                           {"revision", &options.revision},
                                                                                           {"on-known-bad", &options.on_known_bad},
                                                                                           {"tree-cache", &options.tree_cache},
                                                                                           {"pin-limit", &options.pin_limit}}};
  const auto taker = std::find_if(takers.begin(), takers.end(), [&](const auto& each) { return each.first == key; });
  if (taker != takers.end()) *taker->second = word.substr(equals + 1);
  return taker != takers.end();
}

}  // namespace

Result<MountOptions> parse_mount_options(const std::string& list) {
  MountOptions options;
  for (const std::string& word : split(list)) {
    if (take_value(word, options) || without_effect(word)) continue;
    if (word == "allow_other") {
      options.allow_other = true;
    } else if (word == "pin" || word.starts_with("pin=")) {
      options.pin.push_back(word == "pin" ? "*" : word.substr(4));
    } else if (std::find(kHandedOn.begin(), kHandedOn.end(), word) != kHandedOn.end()) {
      options.kernel.push_back(word);
    } else {
      return fail(ErrorCode::invalid_argument, "there is no mount option '" + word + "'", {}, "see mount.vouchfs(8)");
    }
  }
  return options;
}

}  // namespace vouchfs::mount_tools
