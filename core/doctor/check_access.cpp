// What is there and cannot be read, and what only seems to be there. Permission is told apart from absence: loaders report both as
// "No such file or directory".
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "doctor/check_gguf_names.h"
#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "doctor/file_names.h"
#include "doctor/index_view.h"
#include "formats/weight_file.h"

namespace vouchfs::doctor {
namespace {

// Folder that bars them, as an absolute path -> files.
using Blocked = std::map<std::string, std::vector<const FileFacts*>>;

std::string counts_as_missing(const FileFacts& file) {
  std::string text = "; for this user it counts as missing";
  if (const auto* tensors = file.tensors()) text += ", and with it " + count_text(tensors->size(), "tensor");
  return text;
}

bool is_same_folder(const std::string& a, const std::string& b) {
  struct stat one {};
  struct stat other {};
  return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

void say_unreadable(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  Finding finding = about(model, file.path, "file.unreadable");
  finding.message = "the file is there, but may not be read: " + file.trouble + counts_as_missing(file);
  finding.tensors = tensor_names(file);
  finding.command = "chmod a+r " + shell_word(file.real_path);
  findings.add(std::move(finding));
}

// Path of the model for a folder given as an absolute path; "" for the model itself and what is above it.
std::string folder_in_model(const ModelFacts& model, const std::string& folder) {
  for (const std::string& name : model.folders)
    if (is_same_folder(model.place.model_dir + "/" + name, folder)) return name;
  return {};
}

// One folder bars many files: one finding.
void say_blocked(const ModelFacts& model, const std::string& folder, const std::vector<const FileFacts*>& files, Findings& findings) {
  Finding finding = about(model, folder_in_model(model, folder), "folder.unreadable");
  finding.message = "the folder " + folder + " may not be passed: " + files.front()->trouble + "; for this user " + count_text(files.size(), "file") +
                    (files.size() == 1 ? " counts" : " count") + " as missing";
  for (const FileFacts* file : files)
    for (std::string& name : tensor_names(*file)) finding.tensors.push_back(std::move(name));
  finding.command = "chmod a+rx " + shell_word(folder);
  findings.add(std::move(finding));
}

void say_link(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  Finding finding = about(model, file.path, file.presence == Presence::loop ? "link.loop" : "link.dangling");
  finding.message = file.presence == Presence::loop ? "a symbolic link to '" + file.link_target + "' that leads back to itself"
                                                    : "a symbolic link to '" + file.link_target + "', which does not exist";
  finding.command = fetch_command(model, file.path);
  findings.add(std::move(finding));
}

void say_special(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  Finding finding = about(model, file.path, "file.special");
  finding.message = S_ISDIR(file.mode) ? "a folder has the name of a weight file" : "a fifo, socket or device stands where a file should be";
  if (S_ISDIR(file.mode)) {
    finding.loader = {"No such device (os error 19)", "IsADirectoryError: [Errno 21] Is a directory"};
    finding.advice = "give the loader the file inside, or rename the folder";
  }
  findings.add(std::move(finding));
}

void say_io_error(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  Finding finding = about(model, file.path, "file.io_error");
  finding.message = "the system could not read it: " + file.trouble;
  findings.add(std::move(finding));
}

void check_file(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  switch (file.presence) {
    case Presence::readable:
      return;
    case Presence::unreadable:
      if (file.blocked_by.empty()) say_unreadable(model, file, findings);
      return;
    case Presence::dangling:
    case Presence::loop:
      return say_link(model, file, findings);
    case Presence::special:
      return say_special(model, file, findings);
    case Presence::io_error:
      return say_io_error(model, file, findings);
  }
}

// A folder that bars files has its finding by them; with a folder above the model in the way, none of its own can be looked into.
bool is_said(const ModelFacts& model, const FolderTrouble& folder, const Blocked& blocked) {
  return std::any_of(blocked.begin(), blocked.end(), [&](const auto& entry) {
    const std::string where = folder_in_model(model, entry.first);
    return where.empty() || where == folder.path || folder.path.starts_with(where + "/");
  });
}

void check_folders(const ModelFacts& model, const Blocked& blocked, Findings& findings) {
  for (const FolderTrouble& folder : model.folder_trouble) {
    if (is_said(model, folder, blocked)) continue;
    Finding finding = about(model, folder.path, folder.sys_errno == EACCES || folder.sys_errno == EPERM ? "folder.unreadable" : "file.io_error");
    finding.message = "the folder cannot be looked into: " + folder.sentence;
    if (finding.code == "folder.unreadable") finding.command = "chmod a+rx " + shell_word(join_path(model.place.model_dir, folder.path));
    findings.add(std::move(finding));
  }
}

bool says_what_should_be(const FileFacts& file) {
  const std::string name = base_name(file.path);
  return file.index || formats::is_index_name(name) || name == "config.json" || name == "adapter_config.json" || name == "model_index.json" ||
         name == "params.json";
}

// Weights that are not looked into further.
bool is_other_weights(const FileFacts& file) {
  using formats::FileKind;
  for (const char* end : {".h5", ".msgpack", ".onnx", ".tflite", ".npz", ".npy", ".flashpack", ".dduf", ".ot", ".mlmodel"})
    if (file.path.ends_with(end)) return true;
  return file.kind.kind == FileKind::onnx || file.kind.kind == FileKind::hdf5 || file.kind.kind == FileKind::tflite;
}

bool is_promise(const FileFacts& file) {
  return raw_part(base_name(file.path)) || is_other_weights(file) || file.is_weights || formats::weight_format_of_name(base_name(file.path)) ||
         is_weights_on_the_way(base_name(file.path)) || says_what_should_be(file);
}

// A file given by itself: anything that some check or loader knows is an answer; a text or picture is none.
void check_one_file(const ModelFacts& model, Findings& findings) {
  const FileFacts& file = model.files.front();
  const bool known = is_promise(file) || file.pointer || file.path.ends_with(".json") || file.path.find(".gguf.") != std::string::npos;
  if (known || file.presence != Presence::readable) return;
  Finding finding = about(model, file.path, "path.not_a_model");
  finding.message = "the file is " + std::string(formats::in_words(file.kind.kind)) +
                    ", and neither its name nor its content is that of weights, an index or a configuration";
  findings.add(std::move(finding));
}

// What save_pretrained of a tokenizer, processor or scheduler leaves: whole by itself, and no model.
bool goes_with_a_model(const FileFacts& file) {
  const std::string name = base_name(file.path);
  for (const char* known : {"tokenizer.json", "tokenizer_config.json", "preprocessor_config.json", "processor_config.json", "scheduler_config.json"})
    if (name == known) return true;
  return false;
}

void check_any_model(const ModelFacts& model, Findings& findings) {
  const auto& files = model.files;
  if (model.single_file) return check_one_file(model, findings);
  if (std::any_of(files.begin(), files.end(), is_promise) || model.sealed || !model.folder_trouble.empty()) return;
  if (model.place.kind != publisher::PlaceKind::folder) return;
  Finding finding = about(model, "", "path.not_a_model");
  finding.message =
      files.empty() ? "the folder is empty" : "none of its " + count_text(files.size(), "file") + " is a weight file, an index or a configuration of a model";
  if (const auto part = std::find_if(files.begin(), files.end(), goes_with_a_model); part != files.end()) {
    finding.severity = Severity::note;
    finding.message += "; " + base_name(part->path) + " goes with one";
    finding.advice = "nothing needs to be done where only that is wanted; for a model give the folder that holds the weights";
  }
  findings.add(std::move(finding));
}

}  // namespace

void check_access(const ModelFacts& model, Findings& findings) {
  Blocked blocked;
  for (const FileFacts& file : model.files) {
    check_file(model, file, findings);
    if (file.presence == Presence::unreadable && !file.blocked_by.empty()) blocked[file.blocked_by].push_back(&file);
  }
  check_folders(model, blocked, findings);
  for (const auto& [folder, files] : blocked) say_blocked(model, folder, files, findings);
  check_any_model(model, findings);
}

}  // namespace vouchfs::doctor
