// Files into which nothing, or next to nothing, was written.
#include "doctor/check_parts.h"
#include "doctor/checks.h"
#include "formats/weight_file.h"

namespace vouchfs::doctor {
namespace {

// The length field of safetensors alone takes 8 bytes; no weight file of any format is shorter.
constexpr std::uint64_t kSmallest = 8;

void say_empty(const ModelFacts& model, const FileFacts& file, Findings& findings) {
  Finding finding = about(model, file.path, "file.empty");
  finding.offset = 0;
  finding.length = file.bytes;
  finding.message = file.bytes == 0 ? "the file is empty: nothing was written" : "the file has " + bytes_text(file.bytes) + "; no weight file is that short";
  if (file.bytes == 0 && !file.evidence.empty())
    finding.message +=
        "; an error that tells of a digest e3b0c442… means this: it is the SHA-256 of zero bytes, so look at disk, permissions and virus scanners, not at the "
        "network";
  finding.command = fetch_command(model, file.path);
  findings.add(std::move(finding));
}

}  // namespace

void check_empty_file(const ModelFacts& model, Findings& findings) {
  for (const FileFacts& file : model.files) {
    const bool weights = file.is_weights || (file.bytes == 0 && formats::weight_format_of_name(base_name(file.path)));
    if (weights && file.presence == Presence::readable && file.bytes < kSmallest && !file.pointer) say_empty(model, file, findings);
  }
}

}  // namespace vouchfs::doctor
