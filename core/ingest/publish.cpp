#include "ingest/publish.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <set>

#include "base/file.h"
#include "base/units.h"
#include "ingest/work_folder.h"
#include "seal/seal_directory.h"

namespace vouchfs::ingest {
namespace {

class Publisher {
 public:
  Publisher(const SealTarget& target, const NewSeal& seal, const PublishHook& hook) : target_(target), seal_(seal), hook_(hook) {}

  Status store_parts();
  Status swap_manifest();
  std::vector<std::string> tidy();

 private:
  void step(const std::string& word) const {
    if (hook_) hook_(word);
  }
  Status move(const std::string& from, const std::string& to) const;
  Status sync_folder(const std::string& name) const;
  Status move_trees() const;
  void remove_unnamed(const std::string& folder, const std::set<std::string>& named, std::vector<std::string>& left) const;

  const SealTarget& target_;
  const NewSeal& seal_;
  const PublishHook& hook_;
};

Status Publisher::move(const std::string& from, const std::string& to) const {
  step("rename " + to);
  if (::renameat(target_.fd(), from.c_str(), target_.fd(), to.c_str()) == 0) return {};
  return fail(errno_error(errno, "cannot rename '" + from + "'", target_.shown(to)));
}

Status Publisher::sync_folder(const std::string& name) const {
  step("sync " + name);
  VOUCHFS_ASSIGN(const UniqueFd fd, open_at(target_.fd(), name, O_RDONLY | O_DIRECTORY, target_.shown(name)));
  return sync_fd(fd.get(), target_.shown(name));
}

Status Publisher::move_trees() const {
  std::set<hash::Digest> moved;  // files with the same content share a tree
  for (const seal::ManifestFile& file : seal_.manifest.files)
    if (file.bytes > kBlockBytes && moved.insert(file.fsverity).second) VOUCHFS_TRY(move(WorkFolder::tree_name(file.fsverity), seal::tree_path(file.fsverity)));
  return {};
}

Status Publisher::store_parts() {
  for (const char* folder : {seal::kTreesFolder, seal::kTablesFolder}) {
    step("make " + std::string(folder));
    VOUCHFS_TRY(make_folder(target_.fd(), folder, target_.shown(folder)));
  }
  const std::string table = std::string(seal::kWorkFolder) + "/table";
  step("write table");
  VOUCHFS_TRY(write_synced(target_.fd(), table, seal_.table_text, target_.shown(table)));
  VOUCHFS_TRY(move(table, seal::table_path(seal_.manifest.tensors_fsverity)));
  VOUCHFS_TRY(move_trees());
  VOUCHFS_TRY(sync_folder(seal::kTreesFolder));
  return sync_folder(seal::kTablesFolder);
}

Status Publisher::swap_manifest() {
  const std::string manifest = std::string(seal::kWorkFolder) + "/manifest";
  const std::string provenance = std::string(seal::kWorkFolder) + "/provenance";
  step("write provenance");
  VOUCHFS_TRY(write_synced(target_.fd(), provenance, seal_.provenance_text, target_.shown(provenance)));
  step("write manifest");
  VOUCHFS_TRY(write_synced(target_.fd(), manifest, seal_.manifest_text, target_.shown(manifest)));
  VOUCHFS_TRY(sync_folder("."));  // the names trees/ and tables/ themselves
  // Just before the manifest: a new seal is never without its provenance, and an old one whose provenance is gone by a kill in between says nothing wrong.
  VOUCHFS_TRY(move(provenance, seal::kProvenanceName));
  VOUCHFS_TRY(move(manifest, seal::kManifestName));
  return sync_folder(".");
}

void Publisher::remove_unnamed(const std::string& folder, const std::set<std::string>& named, std::vector<std::string>& left) const {
  const auto names = list_folder(target_.fd(), folder, target_.shown(folder));
  if (!names) {
    left.push_back(names.error().describe());
    return;
  }
  for (const std::string& name : *names) {
    const std::string path = folder + "/" + name;
    if (named.count(path) != 0) continue;
    step("remove " + path);
    if (::unlinkat(target_.fd(), path.c_str(), 0) != 0) left.push_back(errno_error(errno, "cannot remove what no manifest names", target_.shown(path)).describe());
  }
}

std::vector<std::string> Publisher::tidy() {
  std::vector<std::string> left;
  std::set<std::string> named = {seal::table_path(seal_.manifest.tensors_fsverity)};
  for (const seal::ManifestFile& file : seal_.manifest.files)
    if (file.bytes > kBlockBytes) named.insert(seal::tree_path(file.fsverity));
  remove_unnamed(seal::kTreesFolder, named, left);
  remove_unnamed(seal::kTablesFolder, named, left);
  step("remove work");
  if (const Status removed = remove_folder(target_.fd(), seal::kWorkFolder, target_.shown(seal::kWorkFolder)); !removed) left.push_back(removed.error().describe());
  step("done");
  return left;
}

}  // namespace

Result<std::vector<std::string>> publish(const SealTarget& target, const NewSeal& seal, const PublishHook& hook) {
  Publisher publisher(target, seal, hook);
  VOUCHFS_TRY(publisher.store_parts());
  VOUCHFS_TRY(publisher.swap_manifest());
  return publisher.tidy();
}

}  // namespace vouchfs::ingest
