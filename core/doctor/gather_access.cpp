// Whether a user may read the files. The kernel answers (mode bits, groups, ACLs, everything): a child takes that user's identity and asks
// access(2); our own never changes. Without a user the answer is what our own open(2) said.
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <system_error>

#include "base/unique_fd.h"
#include "doctor/check_parts.h"
#include "doctor/gather_parts.h"

namespace vouchfs::doctor {
namespace {

struct Question {
  std::string path;
  int mode;  // R_OK, X_OK
};

struct Identity {
  uid_t user;
  gid_t group;
  std::vector<gid_t> groups;
};

std::string user_text(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  return entry == nullptr ? "user " + std::to_string(user) : std::string(entry->pw_name) + " (" + std::to_string(user) + ")";
}

// A number without an account has its own number for a group and no others, as a container's user has.
Identity identity_of(uid_t user) {
  Identity identity{user, static_cast<gid_t>(user), {}};
  const passwd* entry = ::getpwuid(user);
  if (entry == nullptr) return identity;
  identity.group = entry->pw_gid;
  int count = 64;
  identity.groups.resize(static_cast<std::size_t>(count));
  while (::getgrouplist(entry->pw_name, entry->pw_gid, identity.groups.data(), &count) < 0) identity.groups.resize(static_cast<std::size_t>(count));
  identity.groups.resize(static_cast<std::size_t>(count));
  return identity;
}

// In the child: only calls that are safe after a fork of a process with threads.
[[noreturn]] void answer(const Identity& identity, const std::vector<Question>& questions, int to) {
  if (::setgroups(identity.groups.size(), identity.groups.data()) != 0 || ::setgid(identity.group) != 0 || ::setuid(identity.user) != 0) ::_exit(1);
  for (const Question& question : questions) {
    const int problem = ::access(question.path.c_str(), question.mode) == 0 ? 0 : errno;
    if (::write(to, &problem, sizeof problem) != static_cast<ssize_t>(sizeof problem)) ::_exit(1);
  }
  ::_exit(0);
}

Result<std::vector<int>> read_answers(int from, std::size_t count) {
  std::vector<int> answers(count);
  auto* bytes = reinterpret_cast<char*>(answers.data());
  std::size_t got = 0;
  while (got < count * sizeof(int)) {
    const ssize_t n = ::read(from, bytes + got, count * sizeof(int) - got);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(ErrorCode::other, "the child that took the user's identity ended early");
    got += static_cast<std::size_t>(n);
  }
  return answers;
}

Result<std::vector<int>> ask_as(const Identity& identity, const std::vector<Question>& questions) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(errno_error(errno, "cannot make a pipe"));
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail(errno_error(errno, "cannot start a child process"));
  if (child == 0) answer(identity, questions, to.get());
  to.reset();
  auto answers = read_answers(from.get(), questions.size());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return answers;
}

std::vector<int> ask_ourselves(const std::vector<Question>& questions) {
  std::vector<int> answers;
  answers.reserve(questions.size());
  for (const Question& question : questions) answers.push_back(::faccessat(AT_FDCWD, question.path.c_str(), question.mode, AT_EACCESS) == 0 ? 0 : errno);
  return answers;
}

class Judge {
 public:
  Judge(ModelFacts& model, std::optional<uid_t> user) : model_(model), user_(user) {}

  Status run() {
    if (user_) {
      VOUCHFS_TRY(ask_files());
      VOUCHFS_TRY(ask_folders());
    }
    return find_causes();
  }

 private:
  Result<std::vector<int>> ask(const std::vector<Question>& questions) const {
    if (!user_) return ask_ourselves(questions);
    return ask_as(identity_of(*user_), questions);
  }

  Status ask_files() {
    std::vector<Question> questions;
    std::vector<FileFacts*> asked;
    for (FileFacts& file : model_.files) {
      if (file.presence != Presence::readable) continue;
      questions.push_back({file.real_path, R_OK});
      asked.push_back(&file);
    }
    VOUCHFS_ASSIGN(const std::vector<int> answers, ask(questions));
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i] == 0) continue;
      asked[i]->presence = Presence::unreadable;
      asked[i]->trouble = std::generic_category().message(answers[i]);
    }
    return {};
  }

  // A folder that may be passed but not listed hides its files from readers that look for names.
  Status ask_folders() {
    std::vector<Question> questions{{model_.place.model_dir, R_OK}};
    std::vector<std::string> paths{""};
    for (const std::string& folder : model_.folders) {
      questions.push_back({join_path(model_.place.model_dir, folder), R_OK});
      paths.push_back(folder);
    }
    if (model_.single_file) return {};
    VOUCHFS_ASSIGN(const std::vector<int> answers, ask(questions));
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i] != EACCES) continue;
      struct stat info {};
      const bool known = ::stat(questions[i].path.c_str(), &info) == 0;
      model_.folder_trouble.push_back(
          {paths[i], "may not be listed by " + user_text(*user_) + (known ? " (" + mode_text(info.st_mode, info.st_uid, info.st_gid) + ")" : ""), EACCES});
    }
    return {};
  }

  // For each file that may not be read: the first folder on its real way that may not be passed, or its own mode.
  Status find_causes() {
    for (FileFacts& file : model_.files) {
      if (file.presence != Presence::unreadable) continue;
      VOUCHFS_ASSIGN(file.blocked_by, blocking_folder(file.real_path));
      struct stat info {};
      const std::string& cause = file.blocked_by.empty() ? file.real_path : file.blocked_by;
      if (::stat(cause.c_str(), &info) == 0) file.trouble += " (" + mode_text(info.st_mode, info.st_uid, info.st_gid) + ")";
    }
    return {};
  }

  Result<std::string> blocking_folder(const std::string& path) {
    std::vector<Question> questions;
    for (const std::string& start : ways_to(path))
      for (std::size_t slash = start.find('/', 1); slash != std::string::npos; slash = start.find('/', slash + 1)) {
        const std::string folder = start.substr(0, slash);
        if (blocking_.count(folder) != 0) return folder;
        if (passable_.count(folder) == 0) questions.push_back({folder, X_OK});
      }
    if (questions.empty()) return std::string();
    VOUCHFS_ASSIGN(const std::vector<int> answers, ask(questions));
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i] == EACCES) return *blocking_.insert(questions[i].path).first;
      passable_.insert(questions[i].path);
    }
    return std::string();
  }

  // The path as given, made absolute, and where its links lead.
  static std::vector<std::string> ways_to(const std::string& path) {
    std::vector<std::string> ways;
    std::error_code ignored;
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
    const std::unique_ptr<char, decltype(&std::free)> here(::getcwd(nullptr, 0), &std::free);
    if (path.starts_with("/"))
      ways.push_back(path);
    else if (here)
      ways.push_back(std::string(here.get()) + "/" + path);
    if (real) ways.emplace_back(real.get());
    return ways;
  }

  ModelFacts& model_;
  std::optional<uid_t> user_;
  std::set<std::string> passable_;
  std::set<std::string> blocking_;  // kept too: one folder bars all its files, and each question costs a child
};

}  // namespace

std::string mode_text(mode_t mode, uid_t owner, gid_t group) {
  char octal[8];
  std::snprintf(octal, sizeof octal, "%04o", static_cast<unsigned>(mode & 07777));
  const ::group* entry = ::getgrgid(group);
  return std::string("mode ") + octal + ", owner " + user_text(owner) + ", group " +
         (entry == nullptr ? std::to_string(group) : std::string(entry->gr_name) + " (" + std::to_string(group) + ")");
}

Status judge_access(ModelFacts& model, std::optional<uid_t> as_user) {
  if (as_user && *as_user == ::geteuid()) as_user.reset();
  if (as_user && ::geteuid() != 0)
    return fail(ErrorCode::invalid_argument, "only root can judge access as another user (" + user_text(*as_user) + ")", {},
                "run this as root, or as that user");
  return Judge(model, as_user).run();
}

}  // namespace vouchfs::doctor
