// oracle.h: what unit tests need to ask independent tools: a scratch folder, random bytes that a seed repeats, and running a tool.
// A tool that is missing or fails is a failure of the test that wanted it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace vouchfs::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "vouchfs-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "cannot make a scratch folder: " << std::strerror(errno);
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  // Returns the path of the file written.
  std::string write(const std::string& name, std::span<const std::uint8_t> bytes) const {
    std::ofstream file(path(name), std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) ADD_FAILURE() << "cannot write " << path(name);
    return path(name);
  }
  std::vector<std::uint8_t> read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    if (!file) ADD_FAILURE() << "cannot read " << path(name);
    std::ostringstream text;
    text << file.rdbuf();
    const std::string bytes = text.str();
    return {bytes.begin(), bytes.end()};
  }

 private:
  std::string path_;
};

inline std::vector<std::uint8_t> random_bytes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t at = 0; at < count; at += 8) {
    const std::uint64_t word = generator();
    std::memcpy(bytes.data() + at, &word, std::min<std::size_t>(8, count - at));
  }
  return bytes;
}

struct ToolAnswer {
  int status = -1;  // exit status; -1 when it could not be started or was killed
  std::string output;
};

// Standard output of a program found in PATH; its standard error goes where the test's goes.
inline ToolAnswer ask_tool(const std::vector<std::string>& words) {
  ToolAnswer answer;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return answer;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int spawned = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  char buffer[4096];
  for (ssize_t got = 0; spawned == 0 && (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) answer.output.append(buffer, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  if (spawned == 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status)) answer.status = WEXITSTATUS(status);
  return answer;
}

// The output of a tool that must succeed.
inline std::string run_tool(const std::vector<std::string>& words) {
  const ToolAnswer answer = ask_tool(words);
  EXPECT_EQ(answer.status, 0) << words.at(0) << " is missing or failed; the tests need it";
  return answer.output;
}

inline std::string first_word(const std::string& line) { return line.substr(0, line.find_first_of(" \t\n")); }

}  // namespace vouchfs::test
