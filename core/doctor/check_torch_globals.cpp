// What the pickles of torch files would import and call. They are followed by a machine that calls nothing: nothing of them was run.
#include <algorithm>
#include <array>
#include <string_view>

#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "formats/weight_file.h"

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

// TorchScript keeps the classes of the program under this name; their code is in the archive, Python has no such module to import.
// Typed lists of the program are built by functions of torch's own reader of such archives (torch/jit/_pickle.py).
bool is_part_of_script(const FileFacts& file, const formats::PickleGlobal& global) {
  return file.torch && file.torch->torchscript &&
         (global.module == "__torch__" || global.module.starts_with("__torch__.") || global.module == "torch.jit._pickle");
}

// What a training run keeps beside the weights to go on from: the trainer that wrote it loads it with a list of its own of what is allowed.
bool is_state_of_training(const FileFacts& file) {
  const std::string name = base_name(file.path);
  for (const std::string_view begin : {"rng_state", "optimizer", "scheduler", "scaler", "training_args"})
    if (name.starts_with(begin)) return true;
  return false;
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
  names.reserve(globals.size());
  for (const formats::PickleGlobal* global : globals) names.push_back(full_name(*global));
  const bool unsafe = std::string_view(code) == "torch.unsafe_global";
  Finding finding = about(model, file.path, code);
  finding.offset = globals.front()->offset;
  finding.loader = loader_texts(*globals.front());
  finding.message =
      "the pickle names " + list_text(names, 16) +
      (unsafe ? ": loaded without weights_only=True it could run whatever it likes; nothing was run"
              : ": torch's restricted loader does not know " + std::string(names.size() == 1 ? "it" : "them") + " and refuses the file; nothing was run");
  if (!unsafe && file.torch && file.torch->tensors.empty() && file.torch->claimed.empty()) {
    finding.severity = Severity::note;
    finding.message += "; the file holds no tensors and models load without it";
  } else if (!unsafe && is_state_of_training(file)) {
    finding.severity = Severity::note;
    finding.message += "; the file is the state of a training run and models load without it";
  }
  findings.add(std::move(finding));
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

// The oldest pickles are text: "cMODULE\nNAME\n" imports, and torch.load takes them like any other. Only one that begins so is looked for.
std::optional<formats::PickleGlobal> first_of_text_pickle(std::string_view head) {
  const std::size_t at = head.substr(0, 1) == "(" ? 1 : 0;
  if (head.substr(at, 1) != "c") return std::nullopt;
  const std::size_t module_end = head.find('\n', at);
  const std::size_t name_end = module_end == std::string_view::npos ? module_end : head.find('\n', module_end + 1);
  if (name_end == std::string_view::npos) return std::nullopt;
  formats::PickleGlobal global{std::string(head.substr(at + 1, module_end - at - 1)), std::string(head.substr(module_end + 1, name_end - module_end - 1)), at,
                               false};
  if (!is_name(global.module) || !is_name(global.name)) return std::nullopt;
  return global;
}

bool promises_torch(const FileFacts& file) { return formats::weight_format_of_name(base_name(file.path)) == formats::WeightFormat::torch; }

std::vector<formats::PickleGlobal> globals_of(const FileFacts& file) {
  if (file.torch) return file.torch->globals;
  const auto first = promises_torch(file) && file.presence == Presence::readable ? first_of_text_pickle(file.head) : std::nullopt;
  return first && is_unsafe(*first) ? std::vector<formats::PickleGlobal>{*first} : std::vector<formats::PickleGlobal>{};
}

// Under a name that promises weights, a pickle that torch.save did not write is none.
void say_other_pickle(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  if (!file.torch || !file.torch->problem || file.torch->problem->name != "NotTorch" || !file.is_weights || findings.has_error(model.shown_path(file.path)))
    return;
  Finding finding = about(model, file.path, "content.other_format");
  finding.offset = 0;
  finding.message = "a pickle that torch.save did not write: " + file.torch->problem->detail;
  finding.loader = {file.torch->problem->text};
  findings.add(std::move(finding));
}

}  // namespace

void check_torch_globals(const ModelFacts& model, Findings& findings) {
  for (const FileFacts& file : model.files) {
    std::vector<const formats::PickleGlobal*> unsafe;
    std::vector<const formats::PickleGlobal*> unlisted;
    const std::vector<formats::PickleGlobal> globals = globals_of(file);
    for (const formats::PickleGlobal& global : globals)
      if (is_part_of_script(file, global) || global.name.ends_with('\r'))  // text.crlf says what became of such a name
        continue;
      else if (is_unsafe(global))
        unsafe.push_back(&global);
      else if (!global.allowed)
        unlisted.push_back(&global);
    say(model, file, "torch.unsafe_global", unsafe, findings);
    say(model, file, "torch.unlisted_global", unlisted, findings);
    say_other_pickle(model, file, findings);
  }
}

}  // namespace vouchfs::doctor
