// stores.h: folders as publishers' tools leave them, for tests: Hugging Face caches, Git repositories, Ollama stores; digests by independent tools.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "publisher/evidence.h"
#include "publisher/place.h"
#include "unit/base/oracle.h"

namespace vouchfs::publisher::test {

namespace fs = std::filesystem;
using vouchfs::test::ask_tool;
using vouchfs::test::first_word;
using vouchfs::test::run_tool;

inline const std::string kCommit = "0123456789abcdef0123456789abcdef01234567";
inline const std::string kOtherCommit = "fedcba9876543210fedcba9876543210fedcba98";

// A scratch folder that files are put into by relative path.
class Scratch {
 public:
  std::string path(const std::string& name = "") const { return name.empty() ? folder_.path("").substr(0, folder_.path("").size() - 1) : folder_.path(name); }
  void put(const std::string& name, const std::string& bytes) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream file(path(name), std::ios::binary | std::ios::trunc);
    file << bytes;
    file.close();
    if (!file) ADD_FAILURE() << "cannot write " << path(name);
  }
  void link(const std::string& name, const std::string& target) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    fs::create_symlink(target, path(name));
  }
  std::string sha256(const std::string& name) const { return first_word(run_tool({"sha256sum", path(name)})); }
  std::string git_sha1(const std::string& name) const { return first_word(run_tool({"git", "hash-object", "--no-filters", path(name)})); }

 private:
  vouchfs::test::TemporaryFolder folder_;
};

// "kind digest from" of each piece of evidence of a file, digests by their first eight digits.
inline std::vector<std::string> told(const EvidenceMap& map, const std::string& path) {
  std::vector<std::string> out;
  const auto found = map.files.find(path);
  if (found == map.files.end()) return out;
  for (const Evidence& evidence : found->second)
    out.push_back(std::string(to_string(evidence.kind)) + " " + (evidence.digest == DigestKind::sha256 ? "sha256:" : "git-sha1:") + evidence.hex + " " +
                  evidence.from);
  return out;
}

}  // namespace vouchfs::publisher::test
