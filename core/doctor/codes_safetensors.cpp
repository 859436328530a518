// Codes about safetensors files. Loader texts: since safetensors 0.6 in words, before it the bare name of the error.
#include "doctor/codes.h"

namespace vouchfs::doctor {
namespace {

constexpr Severity kError = Severity::error;
constexpr Severity kNote = Severity::note;
constexpr Verdict kDamaged = Verdict::damaged;
constexpr Verdict kWhole = Verdict::whole;
constexpr std::string_view kIncomplete = "Error while deserializing header: incomplete metadata, file not fully covered";
constexpr std::string_view kIncompleteOld = "Error while deserializing header: MetadataIncompleteBuffer";
constexpr std::string_view kLength = "Error while deserializing header: invalid header length";
constexpr std::string_view kLengthOld = "Error while deserializing header: InvalidHeaderLength";
constexpr std::string_view kJson = "Error while deserializing header: invalid JSON in header";
constexpr std::string_view kJsonOld = "Error while deserializing header: InvalidHeaderDeserialization";
constexpr std::string_view kOffset = "Error while deserializing header: invalid offset for tensor";
constexpr std::string_view kOffsetOld = "Error while deserializing header: InvalidOffset";
constexpr std::string_view kFetch = "fetch the file again";
constexpr std::string_view kDistrust = "do not load it; the writer is broken or the file was tampered with: ask the publisher, or fetch it again";

std::vector<CodeFacts> size_codes() {
  return {
      {"safetensors.truncated",
       kError,
       kDamaged,
       "the file ends before its tensors do",
       {kIncomplete, kIncompleteOld},
       "resume the transfer from the end of the file, or fetch it again"},
      {"safetensors.header_truncated", kError, kDamaged, "the file ends inside its header", {kLength, kLengthOld}, kFetch},
      {"safetensors.length_impossible",
       kError,
       kDamaged,
       "the length of the header cannot be right",
       {"Error while deserializing header: header too large", "Error while deserializing header: HeaderTooLarge", kLength, kLengthOld},
       kFetch},
      {"safetensors.header_too_large",
       kError,
       kDamaged,
       "the header is truly larger than 100 MB",
       {"Error while deserializing header: header too large", "Error while deserializing header: HeaderTooLarge"},
       "save again with fewer tensors a file"},
      {"safetensors.trailing_bytes",
       kError,
       kDamaged,
       "bytes follow the last tensor",
       {kIncomplete, kIncompleteOld},
       "fetch it again; cut the file only when a digest of the publisher then fits"},
  };
}

// NOLINTNEXTLINE(readability-function-size): a table, one row a code
std::vector<CodeFacts> header_codes() {
  return {
      {"safetensors.header_not_utf8",
       kError,
       kDamaged,
       "a byte of the header is damaged",
       {"Error while deserializing header: invalid UTF-8 in header", "Error while deserializing header: InvalidHeader"},
       kFetch},
      {"safetensors.header_json",
       kError,
       kDamaged,
       "the header is no valid JSON",
       {kJson, kJsonOld},
       "fetch the file again; of an adapter of your own: save it again"},
      {"safetensors.metadata_not_text", kError, kDamaged, "a value of __metadata__ is no text", {kJson, kJsonOld}, "save again with text values only"},
      {"safetensors.overlap", kError, kDamaged, "tensors share bytes", {kOffset, kOffsetOld}, kDistrust},
      {"safetensors.gap", kError, kDamaged, "bytes between tensors belong to none", {kOffset, kOffsetOld}, kDistrust},
      {"safetensors.bad_range", kError, kDamaged, "a tensor ends before it begins", {kOffset, kOffsetOld}, kDistrust},
      {"safetensors.size_mismatch",
       kError,
       kDamaged,
       "the bytes of a tensor do not fit its shape",
       {"Error while deserializing header: invalid shape, data type, or offset for tensor", "Error while deserializing header: TensorInvalidInfo"},
       kDistrust},
      {"safetensors.shape_overflow",
       kError,
       kDamaged,
       "the shape of a tensor is absurd",
       {"Error while deserializing header: overflow computing buffer size from shape and/or element type",
        "Error while deserializing header: ValidationOverflow"},
       kDistrust},
      {"safetensors.partial_byte",
       kError,
       kDamaged,
       "a tensor of small elements does not fill whole bytes",
       {"The slice is slicing for subbytes dtypes, and the slice does not end up at a byte boundary, this is invalid.",
        "Error while deserializing header: MisalignedSlice"},
       kDistrust},
      {"safetensors.unknown_dtype",
       kError,
       Verdict::unusable,
       "a dtype that no version of safetensors knows",
       {"Error while deserializing header: invalid JSON in header: unknown variant", kJsonOld},
       "ask the publisher which reader the file is for"},
      {"safetensors.duplicate_name", kError, kDamaged, "a tensor name comes twice", {kOffset, kOffsetOld}, "save again; readers keep only the last of the two"},
  };
}

std::vector<CodeFacts> note_codes() {
  return {
      {"safetensors.needs_newer",
       kNote,
       kWhole,
       "the file is whole, for readers that are new enough",
       {"Error while deserializing header: invalid JSON in header: unknown variant", kJsonOld},
       "upgrade safetensors to the version named"},
      {"safetensors.no_format",
       kNote,
       kWhole,
       "__metadata__ does not say format \"pt\", which some readers ask for",
       {"'NoneType' object has no attribute 'get'", "The safetensors archive passed at ... does not contain the valid metadata."},
       "nothing, unless a reader complains; a view can add it: ingest with --fix=format"},
      {"safetensors.unaligned",
       kNote,
       kWhole,
       "the tensor data does not begin on a multiple of 8",
       {},
       "nothing for most readers; mapped reads into a GPU may be slower or refused"},
      {"safetensors.leading_blanks", kNote, kWhole, "blanks stand before the header's brace", {}, "nothing; every reader known takes it"},
      {"safetensors.no_tensors", Severity::warning, kWhole, "a valid file without a single tensor", {}, "save again if it should hold weights"},
  };
}

}  // namespace

std::span<const CodeFacts> safetensors_codes() {
  static const std::vector<CodeFacts> codes = [] {
    std::vector<CodeFacts> all = size_codes();
    for (CodeFacts& facts : header_codes()) all.push_back(std::move(facts));
    for (CodeFacts& facts : note_codes()) all.push_back(std::move(facts));
    return all;
  }();
  return codes;
}

}  // namespace vouchfs::doctor
