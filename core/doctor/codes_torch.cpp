// The codes about files of torch.save. Loader texts: PyTorch caffe2/serialize/inline_container.cc and torch/serialization.py, newest first.
#include "doctor/codes.h"

namespace vouchfs::doctor {

std::span<const CodeFacts> torch_codes() {
  using enum Severity;
  using enum Verdict;
  static const std::vector<CodeFacts> kCodes = {
      {"torch.truncated", error, damaged, "the file ends before its tensors do",
       {"PytorchStreamReader failed reading zip archive: failed finding central directory", "unexpected EOF, expected N more bytes. The file might be corrupted."},
       "fetch the file again: the transfer or the save stopped early"},
      {"torch.no_directory", error, damaged, "the list of records at the end of the archive is missing or broken",
       {"PytorchStreamReader failed reading zip archive: failed finding central directory"}, "fetch the file again, or save it again"},
      {"torch.record_missing", error, damaged, "the pickle names a storage that the archive does not hold",
       {"PytorchStreamReader failed locating file data/N: file not found"}, "save the model again: the archive was never complete, or was packed again without the record"},
      {"torch.bad_local_header", error, damaged, "a record's own header does not fit the list at the end of the archive",
       {"PytorchStreamReader failed reading file data/N: invalid header or archive is corrupted"}, "fetch the file again: bytes in the middle of it changed"},
      {"torch.crc_mismatch", error, damaged, "a record's bytes do not fit the CRC-32 that the archive keeps of them", {},
       "fetch the file again; torch loads it without a word, because it never compares the CRC"},
      {"torch.compressed_record", error, damaged, "a record is compressed, which torch never writes",
       {"PytorchStreamReader failed reading file data/N: file read failed"}, "save the model again with torch.save; do not pack it with a zip tool"},
      {"torch.pickle_broken", error, damaged, "the pickle that describes the tensors cannot be followed",
       {"Weights only load failed.", "invalid load key", "pickle data was truncated"}, "fetch the file again, or save it again"},
      {"torch.unsafe_global", error, unusable, "loading the file without weights_only would run code",
       {"Weights only load failed. Unsupported global: GLOBAL NAME was not an allowed global by default."},
       "do not load it unless you trust where it comes from; ask the publisher for safetensors"},
      {"torch.unlisted_global", warning, whole, "the pickle names a class that torch's restricted loader does not know",
       {"Weights only load failed. Unsupported global: GLOBAL NAME was not an allowed global by default."},
       "look at what it is before torch.serialization.add_safe_globals or weights_only=False"},
      {"torch.script", note, whole, "a TorchScript program, not a state dict", {"PytorchStreamReader failed locating file data.pkl: file not found"},
       "load it with torch.jit.load"},
      {"torch.bad_tensor", error, damaged, "a tensor reaches past its storage or has an impossible shape",
       {"setStorage: sizes, strides, storage offset are out of bounds for storage of size N"}, "save the model again; if it came like this, do not load it and ask the publisher"},
  };
  return kCodes;
}

}  // namespace vouchfs::doctor
