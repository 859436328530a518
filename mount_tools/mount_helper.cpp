#include "mount_tools/mount_helper.h"

#include <string>
#include <vector>

#include "base/error.h"
#include "mount_tools/command_line.h"
#include "mount_tools/exit_code.h"

namespace vouchfs::mount_tools {
namespace {

struct HelperWords {
  std::vector<std::string> places;  // SOURCE and MOUNTPOINT
  std::string options;
  bool fake = false;     // -f: do everything but mount
  bool unknown = false;
};

void add_option(HelperWords& words, const std::string& list) { words.options += (words.options.empty() ? "" : ",") + list; }

// mount(8), "EXTERNAL HELPERS": /sbin/mount.TYPE SOURCE MOUNTPOINT [-sfnv] [-N NAMESPACE] [-o OPTIONS] [-t TYPE]
HelperWords read_words(int argc, char** argv) {
  HelperWords words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_next = i + 1 < argc;
    if (word == "-o" && has_next) {
      add_option(words, argv[++i]);
    } else if ((word == "-t" || word == "-N") && has_next) {
      ++i;
    } else if (word.size() > 1 && word.front() == '-') {
      words.fake = words.fake || word.find('f') != std::string::npos;
      words.unknown = words.unknown || word.find_first_not_of("sfnvrw", 1) != std::string::npos;
    } else {
      words.places.push_back(word);
    }
  }
  return words;
}

}  // namespace

bool is_mount_helper_name(const char* argv0) {
  const std::string path(argv0);
  const std::string name = path.substr(path.rfind('/') + 1);
  return name == "mount.vouchfs" || name == "mount.fuse.vouchfs";
}

int mount_helper_main(int argc, char** argv, Output& output) {
  const HelperWords words = read_words(argc, argv);
  if (words.unknown || words.places.size() != 2) {
    output.error(make_error(ErrorCode::invalid_argument, "usage: mount.vouchfs MODEL MOUNTPOINT [-sfnv] [-o OPTIONS]", {}, "see mount.vouchfs(8)"));
    return to_int(ExitCode::usage);
  }
  if (words.fake) return to_int(ExitCode::ok);
  std::vector<std::string> arguments = {"mount", "--quiet"};
  if (!words.options.empty()) arguments.insert(arguments.end(), {"-o", words.options});
  arguments.insert(arguments.end(), {"--", words.places[0], words.places[1]});
  return run_command_line(arguments, output);
}

}  // namespace vouchfs::mount_tools
