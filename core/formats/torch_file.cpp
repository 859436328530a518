#include "formats/torch_file.h"

#include <algorithm>
#include <string_view>

#include "formats/shown_name.h"
#include "formats/torch_bytes.h"
#include "formats/torch_parts.h"
#include "formats/torch_tensors.h"

namespace vouchfs::formats {
namespace {

constexpr std::uint64_t kMarkBytes = 64;
// The pickled magic number 0x1950a86a20f9469cfc6c: LONG1 of ten bytes, and STOP.
constexpr std::string_view kMagic("\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.", 13);
// BININT2 of the protocol number 1001, and STOP: the pickle behind it.
constexpr std::string_view kProtocolPickle("M\xE9\x03.", 4);
// Four bytes of the number stand in no other pickle by chance, and any one damage of it leaves as many.
constexpr std::size_t kPieceBytes = 4;

bool begins_as_pickle(std::string_view head) { return head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5; }

bool has_magic(std::string_view head) {
  constexpr std::size_t kFrame = 9;
  if (!begins_as_pickle(head)) return false;
  head.remove_prefix(2);
  if (head.starts_with('\x95') && head.size() > kFrame) head.remove_prefix(kFrame);  // protocol 4 and newer
  return head.starts_with(kMagic);
}

// One bit flipped, line feeds turned, cut behind a few bytes: still a file of torch.save, and a broken one.
bool has_remains_of_magic(std::string_view head) {
  if (!begins_as_pickle(head)) return false;
  head = head.substr(0, kMarkBytes);
  for (std::size_t at = 2; at + kPieceBytes < kMagic.size(); ++at)
    if (head.find(kMagic.substr(at, kPieceBytes)) != std::string_view::npos) return true;
  const std::size_t protocol = head.find(kProtocolPickle);
  return protocol != std::string_view::npos && protocol > 2 && begins_as_pickle(head.substr(protocol - 2));
}

HeaderProblem bad_magic(std::string_view head) {
  return {"BadPickle",
          "Invalid magic number; corrupt file?",
          "the magic number of the legacy form is damaged: the file begins with \"" + printable(head.substr(0, 16)) + "\"",
          {},
          0};
}

HeaderProblem not_torch(std::string_view head) {
  return {"NotTorch",
          "Invalid magic number; corrupt file?",
          "the file begins with \"" + printable(head.substr(0, 16)) + "\": neither a zip archive nor the magic number of the legacy form",
          {},
          0};
}

// A pickle of another program: no weights for torch.load, but what it would import is worth to know before anybody tries.
Status read_other_pickle(std::uint64_t file_bytes, const ReadAt& read, TorchFile& file) {
  PickleBytes bytes(read, 0, file_bytes);
  PickleHeap heap;
  PickleMachine machine(bytes, heap);
  machine.run(0);
  file.globals = std::move(heap.globals);
  file.restricted_opcode = machine.restricted_opcode();
  return bytes.status();
}

}  // namespace

bool looks_like_torch_zip(std::string_view head) noexcept { return head.starts_with("PK\x03\x04"); }

bool looks_like_torch_legacy(std::string_view head) noexcept { return has_magic(head) || has_remains_of_magic(head); }

HeaderProblem pickle_problem(const PickleMachine& machine, const PickleBytes& bytes, const std::string& what) {
  const PickleFault& fault = *machine.fault();
  const std::uint64_t offset = bytes.file_offset(fault.position);
  return {fault.name, fault.text, what + " cannot be followed at byte " + std::to_string(offset) + ": " + fault.detail, {}, offset};
}

Result<TorchFile> read_torch_file(std::uint64_t file_bytes, const ReadAt& read) {
  TorchFile file;
  std::string head;
  VOUCHFS_TRY(append_exactly(read, 0, std::min(file_bytes, kMarkBytes), head));
  if (looks_like_torch_zip(head)) {
    VOUCHFS_TRY(read_torch_zip(file_bytes, read, file));
  } else if (looks_like_torch_legacy(head)) {
    file.form = TorchForm::legacy;
    VOUCHFS_TRY(read_torch_legacy(file_bytes, read, file));
    if (file.faults.empty() && !has_magic(head)) file.faults.push_back(bad_magic(head));
  } else {
    file.form = TorchForm::legacy;
    file.faults.push_back(not_torch(head));
    if (head.starts_with('\x80')) VOUCHFS_TRY(read_other_pickle(file_bytes, read, file));
  }
  for (HeaderProblem& fault : file.faults) fault.offset = std::min(fault.offset, file_bytes);
  settle(file);
  return file;
}

}  // namespace vouchfs::formats
