// scan.h: finds every file of a model, and refuses what cannot be sealed.
// Layer:   core/ingest (5).
// Errors:  bad_format (dangling link, link loop, special file, name that is not UTF-8, names that collide in a view, too many or
//          too long names), changed (a name vanished meanwhile), io (a folder that cannot be read), cancelled. Each names the path.
// Cost:    one stat an entry; one descriptor at a time, however deep the tree is.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "ingest/identity.h"
#include "publisher/place.h"

namespace vouchfs::ingest {

struct ScannedFile {
  std::string path;  // relative to the model
  FileIdentity identity;
  std::string source = {};  // where it is opened, relative to the model's folder, when that is not path
  const std::string& opened_as() const noexcept { return source.empty() ? path : source; }
};

struct ScanResult {
  std::vector<ScannedFile> files;     // sorted by path, bytewise; links followed
  std::vector<std::string> left_out;  // .vouch, .git, .cache at any depth, and a seal directory inside the model; sorted
};

// (device, inode) of a folder.
using FolderId = std::pair<std::uint64_t, std::uint64_t>;

// root_fd: the model directory, called `shown_root` in errors. seal_folder: the seal directory when there is one, left out too.
Result<ScanResult> scan_model(int root_fd, const std::string& shown_root, const std::optional<FolderId>& seal_folder, const CancelFlag& cancel);
// A model whose files lie under other names than their own. Fails besides: incomplete (a file that is absent).
Result<ScanResult> scan_named(int root_fd, const std::string& shown_root, const std::vector<publisher::NamedFile>& files, const CancelFlag& cancel);
// Fails: changed, naming the first path that differs between two scans.
Status same_files(const ScanResult& before, const ScanResult& after, const std::string& shown_root);

// Every *.orig that stands where a view must put the publisher's file: names both when `path` and path + ".orig" are there.
Status check_orig_free(const ScanResult& scan, const std::string& path, const std::string& shown_root);

}  // namespace vouchfs::ingest
