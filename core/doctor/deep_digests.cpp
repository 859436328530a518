// The file against every digest the publisher left of it.
#include <algorithm>

#include "base/utf8.h"
#include "doctor/check_parts.h"
#include "doctor/deep_watch.h"
#include "doctor/zero_bytes.h"

namespace vouchfs::doctor {
namespace {

constexpr std::string_view kDigestOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

bool wants(const FileFacts& file, publisher::DigestKind kind) {
  return std::any_of(file.evidence.begin(), file.evidence.end(), [&](const publisher::Evidence& evidence) { return evidence.digest == kind; });
}

std::string digest_name(publisher::DigestKind kind) { return kind == publisher::DigestKind::sha256 ? "SHA-256" : "git SHA-1"; }

}  // namespace

DigestWatch::DigestWatch(const FileFacts& file) : file_(file) {
  if (wants(file, publisher::DigestKind::sha256)) sha256_.emplace();
  if (wants(file, publisher::DigestKind::git_sha1)) git_sha1_.emplace(file.bytes);
}
DigestWatch::~DigestWatch() = default;

void DigestWatch::take(std::uint64_t, std::span<const std::uint8_t> bytes) {
  if (sha256_) sha256_->update(bytes);
  if (git_sha1_) git_sha1_->update(bytes);
  all_zero_ = all_zero_ && is_zero(bytes);
}

std::optional<Finding> DigestWatch::finish(const ModelFacts& model) {
  const std::string sha256 = sha256_ ? hash::to_hex(sha256_->finish()) : std::string();
  const std::string git_sha1 = git_sha1_ ? hash::to_hex(git_sha1_->finish()) : std::string();
  const auto got = [&](const publisher::Evidence& evidence) { return evidence.digest == publisher::DigestKind::sha256 ? sha256 : git_sha1; };
  const auto wrong =
      std::find_if(file_.evidence.begin(), file_.evidence.end(), [&](const publisher::Evidence& evidence) { return evidence.hex != got(evidence); });
  if (wrong == file_.evidence.end()) return std::nullopt;
  const std::string by = "(" + std::string(publisher::to_string(wrong->kind)) + ": " + printable(wrong->from) + ")";
  Finding finding = about(model, file_.path, "publisher.digest_mismatch");
  finding.message = wrong->bytes ? "bytes changed: the size is right, " : "bytes changed: ";
  finding.message += "its " + digest_name(wrong->digest) + " is " + got(*wrong) + ", the publisher's " + by + " is " + wrong->hex;
  if (file_.bytes == 0 && sha256 == kDigestOfNothing)
    finding.message += "; e3b0c442… is the digest of zero bytes: nothing was written or nothing could be read, so look at disk and permissions";
  else if (all_zero_)
    finding.message += "; every byte of it is zero";
  const std::string name = wrong->digest == publisher::DigestKind::sha256 ? "sha256:" : "sha1:";
  finding.loader = {"digest mismatch, file must be downloaded again: want " + name + wrong->hex + ", got " + name + got(*wrong)};
  finding.command = fetch_command(model, file_.path);
  return finding;
}

}  // namespace vouchfs::doctor
