// What the pickles of torch files would import and call. They are followed by a machine that calls nothing: nothing of them was run.
#include <algorithm>
#include <array>
#include <string_view>

#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/checks.h"

namespace vouchfs::doctor {
namespace {

// Top-level modules whose functions reach the system, the network or the interpreter. The first four torch blocks itself (_weights_only_unpickler.py).
constexpr std::array<std::string_view, 48> kUnsafeModules = {"sys",
                                                             "os",
                                                             "posix",
                                                             "nt",
                                                             "subprocess",
                                                             "_posixsubprocess",
                                                             "shutil",
                                                             "socket",
                                                             "_socket",
                                                             "ssl",
                                                             "pty",
                                                             "commands",
                                                             "popen2",
                                                             "runpy",
                                                             "code",
                                                             "codeop",
                                                             "importlib",
                                                             "imp",
                                                             "pkgutil",
                                                             "pdb",
                                                             "bdb",
                                                             "profile",
                                                             "cProfile",
                                                             "timeit",
                                                             "trace",
                                                             "ctypes",
                                                             "_ctypes",
                                                             "cffi",
                                                             "pickle",
                                                             "_pickle",
                                                             "cPickle",
                                                             "dill",
                                                             "marshal",
                                                             "signal",
                                                             "multiprocessing",
                                                             "asyncio",
                                                             "pip",
                                                             "site",
                                                             "platform",
                                                             "webbrowser",
                                                             "requests",
                                                             "urllib",
                                                             "http",
                                                             "httplib",
                                                             "ftplib",
                                                             "smtplib",
                                                             "telnetlib",
                                                             "aiohttp"};
constexpr std::array<std::string_view, 17> kUnsafeBuiltins = {"eval",       "exec",    "execfile",  "compile", "open",      "file",
                                                              "__import__", "getattr", "setattr",   "delattr", "globals",   "locals",
                                                              "vars",       "input",   "raw_input", "apply",   "breakpoint"};
// Functions of harmless modules that open files or build a call from harmless pieces.
constexpr std::array<std::string_view, 17> kUnsafeNames = {"torch.hub.load",
                                                           "torch.load",
                                                           "torch.jit.load",
                                                           "torch.serialization.load",
                                                           "torch.package.PackageImporter",
                                                           "operator.attrgetter",
                                                           "operator.methodcaller",
                                                           "functools.partial",
                                                           "functools.reduce",
                                                           "numpy.load",
                                                           "numpy.testing._private.utils.runstring",
                                                           "io.open",
                                                           "io.open_code",
                                                           "io.FileIO",
                                                           "_io.FileIO",
                                                           "types.FunctionType",
                                                           "types.CodeType"};

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string full_name(const formats::PickleGlobal& global) { return global.module + "." + global.name; }

bool is_unsafe(const formats::PickleGlobal& global) {
  const std::string_view top = std::string_view(global.module).substr(0, global.module.find('.'));
  if (holds(kUnsafeModules, top)) return true;
  if (top == "builtins" || top == "__builtin__" || top == "__builtins__")
    return holds(kUnsafeBuiltins, std::string_view(global.name).substr(0, global.name.find('.')));
  return holds(kUnsafeNames, full_name(global));
}

bool is_blocked_by_torch(const formats::PickleGlobal& global) {
  const std::string_view top = std::string_view(global.module).substr(0, global.module.find('.'));
  return top == "sys" || top == "os" || top == "posix" || top == "nt";
}

// PyTorch 2.6 and newer, then what came before.
std::vector<std::string> loader_texts(const formats::PickleGlobal& global) {
  const std::string name = printable(full_name(global));
  if (is_blocked_by_torch(global))
    return {"Weights only load failed. … Trying to load unsupported GLOBAL " + name + " whose module " + printable(global.module) + " is blocked.",
            "Unsupported class " + name};
  return {"Weights only load failed. … Unsupported global: GLOBAL " + name + " was not an allowed global by default.", "Unsupported class " + name};
}

void say(const ModelFacts& model, const FileFacts& file, const char* code, const std::vector<const formats::PickleGlobal*>& globals, Findings& findings) {
  if (globals.empty()) return;
  std::vector<std::string> names;
  for (const formats::PickleGlobal* global : globals) names.push_back(full_name(*global));
  const bool unsafe = std::string_view(code) == "torch.unsafe_global";
  Finding finding = about(model, file.path, code);
  finding.offset = globals.front()->offset;
  finding.loader = loader_texts(*globals.front());
  finding.message =
      "the pickle names " + list_text(names, 16) +
      (unsafe ? ": loaded without weights_only=True it could run whatever it likes; nothing was run"
              : ": torch's restricted loader does not know " + std::string(names.size() == 1 ? "it" : "them") + " and refuses the file; nothing was run");
  if (!unsafe && file.torch->tensors.empty() && file.torch->claimed.empty()) {
    finding.severity = Severity::note;
    finding.message += "; the file holds no tensors and models load without it";
  }
  findings.add(std::move(finding));
}

}  // namespace

void check_torch_globals(const ModelFacts& model, Findings& findings) {
  for (const FileFacts& file : model.files) {
    if (!file.torch) continue;
    std::vector<const formats::PickleGlobal*> unsafe;
    std::vector<const formats::PickleGlobal*> unlisted;
    for (const formats::PickleGlobal& global : file.torch->globals)
      if (is_unsafe(global))
        unsafe.push_back(&global);
      else if (!global.allowed)
        unlisted.push_back(&global);
    say(model, file, "torch.unsafe_global", unsafe, findings);
    say(model, file, "torch.unlisted_global", unlisted, findings);
  }
}

}  // namespace vouchfs::doctor
