// What lies in an Ollama store and belongs to no model: unfinished downloads that no manifest wants, blobs that none names.
#include "publisher/ollama_store.h"

#include <algorithm>
#include <set>

#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/folder_list.h"
#include "doctor/ollama_partials.h"
#include "doctor/stores.h"

namespace vouchfs::doctor {
namespace {

struct Wanted {
  std::set<std::string> digests;
  bool all_read = true;  // with a broken manifest nobody knows what is unused
};

Wanted wanted_blobs(const std::string& store_dir) {
  Wanted wanted;
  for (const std::string& manifest : files_below(store_dir + "/manifests")) {
    const auto layers = publisher::read_ollama_layers(store_dir, "manifests/" + manifest);
    if (!layers)
      wanted.all_read = false;
    else
      for (const publisher::NamedLayer& named : *layers) wanted.digests.insert(named.layer.sha256);
  }
  return wanted;
}

void say_partial(const std::string& store_dir, const std::string& prefix, const OllamaPartial& partial, Findings& findings) {
  Finding finding;
  finding.code = "ollama.partial";
  finding.severity = Severity::note;
  finding.file = prefix + "blobs/" + partial.name;
  finding.message = partial.finished
                        ? "left over from a download that was finished since"
                        : "an unfinished download that no manifest wants: " + std::to_string(partial.there) + " of " + bytes_text(partial.bytes) + " are there";
  finding.advice = "remove it, or pull its model again: the download goes on where it stopped";
  finding.command = "rm " + shell_word(store_dir + "/blobs/" + partial.name) + "*";
  findings.add(std::move(finding));
}

void check_unused(const std::string& store_dir, const std::string& prefix, const Wanted& wanted, Findings& findings) {
  std::vector<std::string> unused;
  std::uint64_t bytes = 0;
  const std::string blobs = store_dir + "/blobs";
  for (const std::string& name : names_in(blobs)) {
    const std::string hex = hex_of_blob(name);
    if (hex.empty() || wanted.digests.count(hex) != 0) continue;
    unused.push_back(name);
    bytes += size_of(join_path(blobs, name)).value_or(FileSize{}).bytes;
  }
  if (unused.empty() || !wanted.all_read) return;
  Finding finding;
  finding.code = "store.unused_blob";
  finding.file = prefix + "blobs/" + unused.front();
  finding.message = count_text(unused.size(), "blob") + " that no manifest names, " + bytes_text(bytes) + ": " + list_text(unused, 3);
  findings.add(std::move(finding));
}

}  // namespace

void check_ollama_store(const std::string& store_dir, const std::string& prefix, Findings& findings) {
  const Wanted wanted = wanted_blobs(store_dir);
  for (const OllamaPartial& partial : ollama_partials(store_dir + "/blobs"))
    if (partial.finished || (wanted.all_read && wanted.digests.count(partial.sha256) == 0)) say_partial(store_dir, prefix, partial, findings);
  check_unused(store_dir, prefix, wanted, findings);
}

}  // namespace vouchfs::doctor
