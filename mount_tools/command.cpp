#include "mount_tools/command.h"

namespace vouchfs::mount_tools {

const std::vector<Command>& command_table() {
  static const std::vector<Command> table = {
      {"ingest", "read a model once and write its seal", add_ingest},
#ifdef VOUCHFS_WITH_MOUNT
      {"mount", "serve a verified view of a sealed model", add_mount},
      {"umount", "end a mount, in stages when it is busy", add_umount},
#endif
      {"verify", "read and check everything; name the tensors hit", add_verify},
      {"doctor", "say what is wrong with a model, why, and what to do", add_doctor},
#ifdef VOUCHFS_WITH_MOUNT
      {"status", "show what a mount serves and what is known bad", add_status},
      {"warm", "put verified pages into the page cache before a reader asks", add_warm},
#endif
      {"digest", "fs-verity digests of files; the model digest of a model", add_digest},
      {"ls", "list the tensors of a model", add_ls},
      {"index", "print or write the shard index of a model", add_index},
      {"version", "show the version and which optional parts are compiled in", add_version},
  };
  return table;
}

ExitCode failed(Output& output, const Error& error) {
  output.error(error);
  return exit_code_of(error.code);
}

}  // namespace vouchfs::mount_tools
