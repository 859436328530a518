// Caches and stores as such.
#include "doctor/check_parts.h"
#include "doctor/folder_list.h"
#include "doctor/store_paths.h"
#include "doctor/stores.h"

namespace vouchfs::doctor {
namespace {

// "" when root is PATH, else "hub/".
std::string prefix_of(const std::string& path, const std::string& root) {
  std::string start = path;
  while (start.size() > 1 && start.back() == '/') start.pop_back();
  return root.size() > start.size() + 1 && root.starts_with(start + "/") ? root.substr(start.size() + 1) + "/" : std::string();
}

}  // namespace

void check_stores(const std::string& path, const std::vector<publisher::Place>& places, Findings& findings) {
  const StorePath store = store_path(path);
  const std::string prefix = prefix_of(path, store.root);
  switch (store.kind) {
    case StoreKind::hub_model:
      return check_hub_folder(store.root, prefix, false, findings);
    case StoreKind::hub:
      for (const std::string& cache_dir : hub_folders(store.root)) check_hub_folder(cache_dir, prefix + base_name(cache_dir) + "/", false, findings);
      return;
    case StoreKind::ollama:
      check_ollama_store(store.root, prefix, findings);
      break;
    case StoreKind::none:
      return;
  }
  if (!places.empty()) return;
  Finding finding;
  finding.code = "path.not_a_model";
  finding.message = "an Ollama store without a single manifest: it holds no model";
  findings.add(std::move(finding));
}

Finding dead_mount(const std::string& path) {
  Finding finding;
  finding.code = "mount.dead";
  finding.message = "the daemon that served this mount has ended: every access fails with ENOTCONN, whatever is on the disk behind it";
  finding.loader = {"OSError: [Errno 107] Transport endpoint is not connected: '" + path + "'"};
  finding.command = "umount -l " + shell_word(path);
  return finding;
}

}  // namespace vouchfs::doctor
