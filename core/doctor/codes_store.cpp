// The codes about publishers' digests, download stores, the seal and the filesystem below.
#include "doctor/codes.h"

namespace vouchfs::doctor {

std::span<const CodeFacts> store_codes() {
  using enum Severity;
  using enum Verdict;
  static const std::vector<CodeFacts> kCodes = {
      {"publisher.size_mismatch", error, damaged, "the file has another size than the publisher's", {"Consistency check failed: file should be of size N but has size M"}, "fetch the file again"},
      {"publisher.digest_mismatch", error, damaged, "the bytes are not the publisher's", {"digest mismatch, file must be downloaded again: want sha256:HEX, got sha256:HEX"},
       "fetch the file again; when it happens again, test memory and disk"},
      {"publisher.absent_file", error, incomplete, "the publisher's listing names a file that is not here", {"No such file or directory"}, "fetch the file"},
      {"publisher.bad_list", warning, whole, "a listing of the publisher's digests cannot be read", {}, "fetch the listing again; until then its files are checked against nothing"},
      {"hub.incomplete_download", error, incomplete, "a download into the cache was not finished", {"No such file or directory"}, "run the download again: it goes on where it stopped"},
      {"hub.no_ref", warning, whole, "the cache has a snapshot but no branch that points to it", {"LocalEntryNotFoundError: Cannot find the requested files in the disk cache"},
       "name the commit when you load it, or write the ref"},
      {"hub.bad_ref", error, incomplete, "a branch of the cache points to no snapshot", {"LocalEntryNotFoundError: Cannot find the requested files in the disk cache"}, "write the ref again"},
      {"hub.no_exist", warning, whole, "the cache remembers that a file does not exist", {"EntryNotFoundError"}, "remove the mark when the publisher has added the file since"},
      {"hub.read_only", note, whole, "the cache cannot be written to", {"Read-only file system", "Permission denied"},
       "set HF_HUB_OFFLINE=1, so that nothing tries to download or to write refs and locks"},
      {"hub.no_snapshot", error, incomplete, "the cache folder of a model holds no snapshot", {"LocalEntryNotFoundError: Cannot find the requested files in the disk cache"}, "fetch the model"},
      {"ollama.manifest_broken", error, damaged, "the manifest of a model cannot be read", {"Error: unexpected end of JSON input", "Error: EOF"},
       "pull the model again, with free space on the disk: a crash or a full disk leaves such a file"},
      {"ollama.layer_missing", error, incomplete, "a layer that the manifest names is not in the store", {"Error: open sha256-HEX: no such file or directory"}, "pull the model again"},
      {"ollama.partial", error, incomplete, "a layer was not downloaded to its end", {"Error: open sha256-HEX: no such file or directory"}, "pull the model again: it goes on where it stopped"},
      {"seal.block_mismatch", error, damaged, "blocks are not what they were when the model was sealed", {},
       "repair the file from a good copy; on repeat test memory and disk"},
      {"seal.size_mismatch", error, damaged, "the file has another size than when the model was sealed", {}, "bring back the file, or seal the model again if the change was meant"},
      {"seal.missing_file", error, incomplete, "a file of the seal is absent", {"No such file or directory"}, "bring back the file, or seal the model again if it is not wanted any more"},
      {"seal.unsealed_file", note, whole, "a file that the seal does not know: a mount does not show it", {}, "seal the model again if the file belongs to it"},
      {"seal.unusable", warning, whole, "the seal cannot be used", {}, "seal the model again"},
      {"mount.dead", error, damaged, "the mount's daemon has ended", {"Transport endpoint is not connected"}, "unmount it and mount it again; processes that hold files open must be started again"},
      {"mount.network", note, whole, "the model lies on a network or FUSE filesystem",
       {}, "loading by mmap over a network reads in small pieces: let the loader read instead, or mount a sealed model with vouchfs"},
  };
  return kCodes;
}

}  // namespace vouchfs::doctor
