// Codes about files as such: whether they can be read, and what they are.
#include "doctor/codes.h"

namespace vouchfs::doctor {
namespace {

constexpr Severity kError = Severity::error;
constexpr std::string_view kNotSafetensors = "Error while deserializing header: header too large";
constexpr std::string_view kNotSafetensorsOld = "Error while deserializing header: HeaderTooLarge";
constexpr std::string_view kNoFile = "No such file or directory";

std::vector<CodeFacts> access_codes() {
  return {
      {"file.unreadable",
       kError,
       Verdict::incomplete,
       "the file is there, but the user may not read it",
       {kNoFile, "PermissionError: [Errno 13] Permission denied"},
       "give the user read permission on the file, and search permission on every folder on the way"},
      {"folder.unreadable",
       kError,
       Verdict::incomplete,
       "a folder on the way may not be entered or listed",
       {kNoFile, "PermissionError: [Errno 13] Permission denied"},
       "give the user read and search permission on the folder"},
      {"link.dangling",
       kError,
       Verdict::incomplete,
       "a symbolic link that leads to nothing",
       {kNoFile, "FileNotFoundError: [Errno 2]"},
       "bring back what the link points to, or fetch the file again"},
      {"link.loop",
       kError,
       Verdict::incomplete,
       "a symbolic link that leads to itself",
       {"Too many levels of symbolic links"},
       "remove the link and fetch the file again"},
      {"file.special", kError, Verdict::incomplete, "a fifo, socket or device where a file should be", {}, "remove it and fetch the file again"},
      {"file.io_error",
       kError,
       Verdict::damaged,
       "the system failed to read the file",
       {"Input/output error (os error 5)", "OSError: [Errno 5] Input/output error"},
       "look into the kernel log for the disk or network; when other files fail too it is the mount, else the storage under this file"},
      {"path.not_a_model",
       kError,
       Verdict::unusable,
       "nothing in the folder is a weight file, an index or a config",
       {"does not appear to have a file named model.safetensors"},
       "give the folder that holds the weights"},
  };
}

// NOLINTNEXTLINE(readability-function-size): a table, one row a code
std::vector<CodeFacts> content_codes() {
  return {
      {"file.empty",
       kError,
       Verdict::damaged,
       "nothing was written into the file",
       {"Error while deserializing header: header too small", "Error while deserializing header: HeaderTooSmall", "EOFError: Ran out of input",
        "gguf_init_from_file_impl: failed to read magic", "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"},
       "fetch it again; check free space and quota first"},
      {"file.never_written",
       kError,
       Verdict::damaged,
       "the size was reserved, and no data was written",
       {"Error while deserializing header: invalid JSON in header: EOF while parsing a value at line 1 column 0",
        "Error while deserializing header: InvalidHeaderDeserialization", "filename 'storages' not found", "invalid load key, '\\x00'.",
        "gguf_init_from_file_impl: invalid magic characters: '?\?\?\?', expected 'GGUF'"},
       "fetch it again; a crash or a full disk stopped the writer"},
      {"file.zero_head",
       kError,
       Verdict::damaged,
       "the file begins with zeros, with data behind them",
       {"Error while deserializing header: invalid JSON in header: EOF while parsing a value at line 1 column 0",
        "Error while deserializing header: InvalidHeaderDeserialization", "filename 'storages' not found", "invalid load key, '\\x00'.",
        "gguf_init_from_file_impl: invalid magic characters: '?\?\?\?', expected 'GGUF'"},
       "fetch it again; what is behind the zeros may be good"},
      {"file.stale_partial", Severity::note, Verdict::whole, "what an unfinished download left behind", {}, "remove it when no download is running"},
      {"file.unfinished_download",
       kError,
       Verdict::incomplete,
       "a download of the file has not ended",
       {},
       "let the download go on, or start it again: what is here is kept"},
      {"lfs.pointer",
       kError,
       Verdict::unusable,
       "a Git LFS pointer stands in place of the file",
       {kNotSafetensors, kNotSafetensorsOld, "invalid load key, 'v'.", "Weights only load failed. … Unsupported operand 118",
        "invalid magic characters: 'vers'", "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"},
       "fetch the file itself; a clone without git-lfs leaves only the pointer"},
      {"content.web_page",
       kError,
       Verdict::unusable,
       "a web page was saved in place of the file",
       {kNotSafetensors, kNotSafetensorsOld, "invalid load key, '<'.", "Weights only load failed. … Unsupported operand 60", "invalid magic characters: '<!DO'",
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"},
       "sign in, accept the licence, or go round the proxy that answered; then fetch the file again"},
      {"content.error_text",
       kError,
       Verdict::unusable,
       "an error message of a server was saved in place of the file",
       {kNotSafetensors, kNotSafetensorsOld, "Expecting value: line 1 column 1 (char 0)"},
       "put right what the message says, then fetch the file again"},
      {"content.other_format",
       kError,
       Verdict::unusable,
       "the file is of another format than its name says",
       {kNotSafetensors, kNotSafetensorsOld},
       "give it its true name, or convert it"},
      {"content.unknown",
       kError,
       Verdict::unusable,
       "the file is of no format that is known",
       {kNotSafetensors, kNotSafetensorsOld},
       "fetch it again; if it stays the same, ask the publisher what it is"},
      {"content.bom",
       kError,
       Verdict::damaged,
       "a byte order mark stands before a good file",
       {kNotSafetensors, kNotSafetensorsOld, "invalid load key, '\\xef'.", "Weights only load failed. … Unsupported operand 239",
        "gguf_init_from_file_impl: invalid magic characters: '???G', expected 'GGUF'"},
       "take the first 3 bytes away; of a safetensors file a view can do it"},
      {"text.crlf",
       kError,
       Verdict::damaged,
       "the file was converted like a text file: every line feed got a carriage return",
       {kNotSafetensors, kNotSafetensorsOld, "Error while deserializing header: incomplete metadata, file not fully covered",
        "Error while deserializing header: invalid shape, data type, or offset for tensor",
        "PytorchStreamReader failed reading zip archive: invalid header or archive is corrupted"},
       "fetch it again in binary mode"},
      {"json.broken",
       kError,
       Verdict::damaged,
       "a JSON file of the model does not parse",
       {"json.decoder.JSONDecodeError", "It looks like the config file at '...' is not a valid JSON file."},
       "fetch it again, or put the place named right"},
      {"json.bom",
       kError,
       Verdict::damaged,
       "a JSON file begins with a byte order mark",
       {"json.decoder.JSONDecodeError: Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)"},
       "save it again as UTF-8 without the mark"},
  };
}

}  // namespace

std::span<const CodeFacts> file_codes() {
  static const std::vector<CodeFacts> codes = [] {
    std::vector<CodeFacts> all = access_codes();
    for (CodeFacts& facts : content_codes()) all.push_back(std::move(facts));
    return all;
  }();
  return codes;
}

}  // namespace vouchfs::doctor
