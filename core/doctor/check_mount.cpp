// The filesystem a model lies on: network filesystems and the settings that make loaders bearable on them.
// Source: /proc/self/mountinfo (proc(5)); loader settings: the reference's table of readers.
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <array>
#include <fstream>
#include <sstream>

#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "doctor/mount_info.h"

namespace vouchfs::doctor {
namespace {

// Types whose pages come over a network, one request at a time when a reader maps the file.
constexpr std::array<std::string_view, 12> kNetworkTypes = {"nfs", "nfs4",   "lustre", "cifs",      "smb3", "ceph",
                                                            "9p",  "beegfs", "gpfs",   "glusterfs", "afs",  "virtiofs"};

bool is_network(const std::string& type) {
  for (const std::string_view known : kNetworkTypes)
    if (type == known) return true;
  return (type.compare(0, 5, "fuse.") == 0 && type.compare(5, 7, "vouchfs") != 0) || type == "fuse";
}

std::string settings_text(const std::string& type) {
  std::string text = "vLLM: --safetensors-load-strategy ";
  // vLLM prefetches by itself on the types it knows.
  text +=
      type == "nfs" || type == "nfs4" || type == "lustre" ? "eager (it prefetches on this type by itself when the model fits in memory)" : "prefetch or eager";
  return text +
         "; SGLang: --weight-loader-disable-mmap, --weight-loader-prefetch-checkpoints; transformers and diffusers: disable_mmap=True; safetensors >= 0.8: "
         "backend=\"pread\"; "
         "llama.cpp: --no-mmap; Ollama: option use_mmap false; TensorRT-LLM: TRTLLM_HF_SAFETENSORS_NO_MMAP=1";
}

}  // namespace

std::optional<MountEntry> find_mount(std::istream& mountinfo, unsigned device_major, unsigned device_minor) {
  const std::string wanted = std::to_string(device_major) + ":" + std::to_string(device_minor);
  std::string line;
  std::optional<MountEntry> found;
  while (std::getline(mountinfo, line)) {
    std::istringstream words(line);
    std::string id, parent, device, root, point, word;
    if (!(words >> id >> parent >> device >> root >> point) || device != wanted) continue;
    while (words >> word && word != "-") {  // options and optional fields
    }
    MountEntry entry;
    entry.point = point;
    if (words >> entry.type >> entry.source) found = entry;
  }
  return found;
}

void check_mount(const ModelFacts& model, Findings& findings) {
  struct stat info {};
  const std::string& place = model.single_file && !model.files.empty() ? model.files.front().real_path : model.place.model_dir;
  if (::stat(place.c_str(), &info) != 0) return;  // said where the file or folder itself is judged
  std::ifstream mountinfo("/proc/self/mountinfo");
  const auto mount = find_mount(mountinfo, ::major(info.st_dev), ::minor(info.st_dev));
  if (!mount || !is_network(mount->type)) return;
  Finding finding;
  finding.code = "mount.network";
  finding.file = model.shown;
  finding.message = "lies on a filesystem of type " + printable(mount->type) + " (" + printable(mount->source) + " on " + printable(mount->point) +
                    "): most loaders map files, and over such a filesystem that reads in small pieces, one after the other";
  finding.advice = "let the loader read instead of map: " + settings_text(mount->type) + "; or mount the sealed model with vouchfs, which reads ahead";
  findings.add(std::move(finding));
}

}  // namespace vouchfs::doctor
