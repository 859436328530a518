#include "ingest/publisher_check.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "formats/lfs_pointer.h"
#include "ingest/git_checkout.h"

namespace vouchfs::ingest {
namespace {

using publisher::DigestKind;
using publisher::Evidence;
using seal::ProvenanceResult;

constexpr std::size_t kListed = 5;
constexpr const char* kMismatchAdvice =
    "get the publisher's file again; if the change is meant, ingest with --check-publisher=off, which says so in the seal's provenance.json";
// `* -text -ident` outranks .gitattributes and core.autocrlf; a file that is there already is not written again unless it is removed.
constexpr const char* kCheckoutAdvice =
    "check it out as it was published: git config core.autocrlf false (and for eol=crlf or ident: echo '* -text -ident' >> .git/info/attributes), remove the "
    "file, git checkout -- FILE; or seal it as it is with --check-publisher=off, which says so in the seal's provenance.json";
constexpr const char* kRequireAdvice = "get the publisher's digests (SHA256SUMS, a Hugging Face or Git checkout), or ingest with --check-publisher=auto";

std::string digest_text(DigestKind kind, const std::string& hex) { return (kind == DigestKind::sha256 ? "sha256:" : "git-sha1:") + hex; }

seal::PublisherDigest record_of(const Evidence& evidence) {
  return {publisher::to_string(evidence.kind), digest_text(evidence.digest, evidence.hex), evidence.from};
}

std::string hex_of(const SealedFile& file, DigestKind kind) {
  if (kind == DigestKind::sha256) return hash::to_hex(file.entry.sha256);
  return file.git_sha1 ? hash::to_hex(*file.git_sha1) : std::string();
}

// Any evidence of one file tells its size.
std::optional<std::uint64_t> size_by(const std::vector<Evidence>& list, const Evidence& first) {
  if (first.bytes) return first.bytes;
  const auto with_size = std::find_if(list.begin(), list.end(), [](const Evidence& e) { return e.bytes.has_value(); });
  return with_size == list.end() ? std::nullopt : with_size->bytes;
}

// By its own header: the file ends before its tensors, its header or its directory do.
bool is_cut(const std::string& path, std::uint64_t bytes, const seal::TensorTable& table) {
  const auto found = std::lower_bound(table.files.begin(), table.files.end(), path, [](const seal::TableFile& f, const std::string& p) { return f.path < p; });
  if (found == table.files.end() || found->path != path || !found->problem) return false;
  constexpr std::array<std::string_view, 7> kCut = {"HeaderTooSmall",  "InvalidHeaderLength",     "FileTooSmall", "TruncatedHeader",
                                                    "DataOutOfBounds", "MissingCentralDirectory", "UnexpectedEnd"};
  const formats::HeaderProblem& problem = *found->problem;
  // The same name stands for bytes too many; the place tells the two apart.
  if (problem.name == "MetadataIncompleteBuffer") return problem.offset == bytes;
  return std::find(kCut.begin(), kCut.end(), problem.name) != kCut.end();
}

std::string what_happened(const SealedFile& file, std::optional<std::uint64_t> published, const seal::TensorTable& table,
                          const PublisherCheck::ReadSmall& read_small) {
  const std::uint64_t here = file.entry.bytes;
  const auto text = here < formats::kMaxLfsPointerBytes ? read_small(file.entry.path, formats::kMaxLfsPointerBytes) : std::nullopt;
  if (text && formats::parse_lfs_pointer(*text)) return "a Git LFS pointer lies in its place, the content was never fetched (git lfs pull)";
  if (!published && is_cut(file.entry.path, here, table)) return "transfer stopped at byte " + std::to_string(here) + ", its header asks for more";
  if (!published) return "bytes changed (its right size is not known)";
  if (here == *published) return "bytes changed";
  if (here < *published) return "transfer stopped at byte " + std::to_string(here) + " of " + std::to_string(*published);
  return "it has " + std::to_string(here) + " bytes, the publisher's has " + std::to_string(*published);
}

CheckoutChange changed_by_git(const SealedFile& file, const std::vector<Evidence>& list, const PublisherCheck::ReadSmall& read_small) {
  const auto blob = std::find_if(list.begin(), list.end(), [](const Evidence& e) { return e.kind == publisher::EvidenceKind::git_blob; });
  // Either change makes a file longer.
  const bool may = blob != list.end() && blob->bytes && *blob->bytes < file.entry.bytes && file.entry.bytes <= kMaxCheckedOutBytes;
  const auto text = may ? read_small(file.entry.path, kMaxCheckedOutBytes) : std::nullopt;
  return text ? checkout_change(*text, blob->hex) : CheckoutChange::none;
}

std::string mismatch_text(const SealedFile& file, const Evidence& evidence, const std::string& why) {
  return why + ": " + digest_text(evidence.digest, hex_of(file, evidence.digest)) + " here, " + digest_text(evidence.digest, evidence.hex) +
         " by the publisher (" + publisher::to_string(evidence.kind) + ", " + printable(evidence.from) + ")";
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kListed; ++i) text += (i == 0 ? "" : ", ") + printable(names[i]);
  if (names.size() > kListed) text += " and " + std::to_string(names.size() - kListed) + " more";
  return text;
}

std::string counted_files(std::size_t n) { return std::to_string(n) + (n == 1 ? " file" : " files"); }

publisher::EvidenceMap evidence_of(PublisherMode mode, const publisher::Place& place, const std::vector<ScannedFile>& files) {
  if (mode == PublisherMode::off) return {};
  std::vector<std::string> paths;
  for (const ScannedFile& file : files) paths.push_back(file.path);
  return publisher::find_evidence(place, paths);
}

}  // namespace

const char* to_string(PublisherMode mode) noexcept {
  switch (mode) {
    case PublisherMode::automatic:
      return "auto";
    case PublisherMode::require:
      return "require";
    case PublisherMode::off:
      return "off";
  }
  return "auto";
}

std::optional<PublisherMode> publisher_mode_from(std::string_view word) noexcept {
  for (const PublisherMode mode : {PublisherMode::automatic, PublisherMode::require, PublisherMode::off})
    if (word == to_string(mode)) return mode;
  return std::nullopt;
}

PublisherCheck::PublisherCheck(PublisherMode mode, const publisher::Place& place, const std::vector<ScannedFile>& files)
    : mode_(mode), evidence_(evidence_of(mode, place, files)) {
  summary_.mode = mode;
  for (const publisher::AbsentFile& file : evidence_.absent) summary_.absent.push_back(file.path);
  for (const ScannedFile& file : files)
    if (!file.source.empty()) sources_.emplace(file.path, file.source);
}

bool PublisherCheck::needs_git_sha1(const std::string& path) const {
  const auto found = evidence_.files.find(path);
  if (found == evidence_.files.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [](const Evidence& e) { return e.digest == DigestKind::git_sha1; });
}

void PublisherCheck::judge_file(const SealedFile& file, const seal::TensorTable& table, const ReadSmall& read_small) {
  const std::string& path = file.entry.path;
  seal::ProvenanceFile record{path, ProvenanceResult::ok, {}};
  const auto found = evidence_.files.find(path);
  if (found == evidence_.files.end()) {
    const bool exempt = evidence_.exempt.count(path) != 0;
    record.result = mode_ == PublisherMode::off ? ProvenanceResult::unchecked : exempt ? ProvenanceResult::exempt : ProvenanceResult::absent;
    summary_.exempt += record.result == ProvenanceResult::exempt ? 1 : 0;
    if (record.result == ProvenanceResult::absent) summary_.without.push_back(path);
    return files_.push_back(std::move(record));
  }
  const Evidence* wrong = nullptr;
  for (const Evidence& evidence : found->second) {
    record.checked.push_back(record_of(evidence));
    summary_.kinds.insert(publisher::to_string(evidence.kind));
    if (wrong == nullptr && hex_of(file, evidence.digest) != evidence.hex) wrong = &evidence;
  }
  if (wrong != nullptr) {
    record.result = ProvenanceResult::mismatch;
    add_mismatch(file, *wrong, table, read_small);
  } else {
    ++summary_.ok;
  }
  files_.push_back(std::move(record));
}

void PublisherCheck::add_mismatch(const SealedFile& file, const Evidence& wrong, const seal::TensorTable& table, const ReadSmall& read_small) {
  const std::vector<Evidence>& list = evidence_.files.at(file.entry.path);
  const CheckoutChange change = changed_by_git(file, list, read_small);
  if (first_bad_.empty()) {
    first_bad_ = file.entry.path;
    first_bad_by_git_ = change != CheckoutChange::none;
  }
  const std::string why = change != CheckoutChange::none ? describe(change) : what_happened(file, size_by(list, wrong), table, read_small);
  summary_.mismatches.push_back(mismatch_text(file, wrong, why));
}

void PublisherCheck::judge(const std::vector<SealedFile>& files, const seal::TensorTable& table, const ReadSmall& read_small) {
  for (const SealedFile& file : files) judge_file(file, table, read_small);
}

std::vector<std::string> PublisherCheck::warnings() const {
  std::vector<std::string> texts = evidence_.notes;
  if (!summary_.absent.empty())
    texts.push_back(counted_files(summary_.absent.size()) + " of the publisher's listing (" + printable(evidence_.absent.front().evidence.from) +
                    ") not here: " + listed(summary_.absent));
  return texts;
}

Status PublisherCheck::verdict(const std::string& shown_root) const {
  if (mode_ == PublisherMode::off) return {};
  if (!summary_.mismatches.empty()) {
    const auto source = sources_.find(first_bad_);
    const bool named = source != sources_.end();
    std::string text =
        "does not fit what the publisher left; " + (named ? "the content of '" + printable(first_bad_) + "': " : "") + summary_.mismatches.front();
    const std::size_t others = summary_.mismatches.size() - 1;
    if (others != 0) text += "; " + counted_files(others) + (others == 1 ? " more does not fit either" : " more do not fit either");
    return fail(ErrorCode::untrusted, text, shown_root + "/" + (named ? source->second : first_bad_), first_bad_by_git_ ? kCheckoutAdvice : kMismatchAdvice);
  }
  if (mode_ == PublisherMode::require && !summary_.without.empty())
    return fail(ErrorCode::untrusted, "there is no evidence of the publisher for " + counted_files(summary_.without.size()) + ": " + listed(summary_.without),
                shown_root, kRequireAdvice);
  return {};
}

seal::Provenance PublisherCheck::provenance(const hash::Digest& model_digest) const {
  seal::Provenance provenance;
  provenance.model_digest = model_digest;
  provenance.check = to_string(mode_);
  provenance.files = files_;
  for (const publisher::AbsentFile& file : evidence_.absent) provenance.missing.push_back({file.path, record_of(file.evidence)});
  return provenance;
}

}  // namespace vouchfs::ingest
