// Sizes against the publisher's, and files of a listing that are absent.
#include "unit/doctor/sample_facts.h"

namespace vouchfs::doctor {
namespace {

using namespace test;
using publisher::Evidence;
using publisher::EvidenceKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Evidence evidence_of(EvidenceKind kind, std::optional<std::uint64_t> bytes) {
  Evidence evidence;
  evidence.kind = kind;
  evidence.hex = std::string(64, 'a');
  evidence.bytes = bytes;
  evidence.from = "trees/c0.json";
  return evidence;
}

FileFacts with_evidence(std::uint64_t bytes, std::optional<std::uint64_t> published) {
  FileFacts file = file_of("model.safetensors", bytes);
  file.evidence = {evidence_of(EvidenceKind::sha256sums, std::nullopt), evidence_of(EvidenceKind::hf_tree, published)};
  file.safetensors.emplace();
  file.safetensors->tensors = {{"a", "U8", {500}, 100, 600}, {"b", "U8", {400}, 600, 1000}};
  return file;
}

TEST(PublisherSize, OfAShortFileSaysWhereTheTransferStopped) {
  const auto findings = run(check_publisher_size, model_of({with_evidence(700, 1000)}));
  EXPECT_THAT(said(findings), ElementsAre("error publisher.size_mismatch model.safetensors"));
  EXPECT_THAT(findings.at(0).message, HasSubstr("transfer stopped at byte 700"));
  EXPECT_EQ(findings.at(0).offset, 700U);
  EXPECT_EQ(findings.at(0).length, 300U);
  EXPECT_THAT(findings.at(0).tensors, ElementsAre("b"));
}

TEST(PublisherSize, OfALongFileSaysWhereItShouldEnd) {
  const auto findings = run(check_publisher_size, model_of({with_evidence(1024, 1000)}));
  EXPECT_THAT(findings.at(0).message, HasSubstr("24 bytes too many"));
  EXPECT_EQ(findings.at(0).offset, 1000U);
  EXPECT_EQ(findings.at(0).length, 24U);
  EXPECT_THAT(findings.at(0).tensors, IsEmpty());
}

TEST(PublisherSize, OfNothingExplainsTheDigestThatErrorsShow) {
  EXPECT_THAT(run(check_publisher_size, model_of({with_evidence(0, 1000)})).at(0).message, HasSubstr("e3b0c442"));
}

TEST(PublisherSize, IsSilentWhenItFitsOrNobodySaidIt) {
  EXPECT_THAT(run(check_publisher_size, model_of({with_evidence(1000, 1000)})), IsEmpty());
  EXPECT_THAT(run(check_publisher_size, model_of({with_evidence(700, std::nullopt)})), IsEmpty());
}

TEST(PublisherSize, LeavesAFileAloneThatHasAnErrorAlready) {
  Findings findings;
  findings.add({"lfs.pointer", Severity::error, "model.safetensors", {}, {}, {}, {}, {}, {}, {}});
  check_publisher_size(model_of({with_evidence(130, 1000)}), findings);
  EXPECT_EQ(findings.all().size(), 1U);
}

ModelFacts lacking(std::vector<FileFacts> files, std::vector<std::pair<std::string, EvidenceKind>> absent) {
  ModelFacts model = model_of(std::move(files));
  for (const auto& [path, kind] : absent) model.evidence.absent.push_back({path, evidence_of(kind, 5000)});
  return model;
}

FileFacts weights(const std::string& path) {
  FileFacts file = file_of(path, 1000);
  file.is_weights = true;
  return file;
}

TEST(AbsentFile, IsAnErrorWhenItIsTheSisterOfAShard) {
  const auto findings =
      run(check_publisher_size, lacking({weights("model-00001-of-00002.safetensors")}, {{"model-00002-of-00002.safetensors", EvidenceKind::hf_tree}}));
  EXPECT_THAT(said(findings), ElementsAre("error publisher.absent_file model-00002-of-00002.safetensors"));
  EXPECT_THAT(findings.at(0).message, HasSubstr("5000 bytes"));
}

TEST(AbsentFile, IsANoteWhenItIsAnotherFormatOrNoWeights) {
  const auto findings =
      run(check_publisher_size, lacking({weights("model.safetensors")}, {{"README.md", EvidenceKind::hf_tree}, {"pytorch_model.bin", EvidenceKind::hf_tree}}));
  EXPECT_THAT(said(findings), ElementsAre("note publisher.absent_file README.md"));
  EXPECT_THAT(findings.at(0).message, HasSubstr("2 files of the publisher's listing not here: README.md, pytorch_model.bin"));
}

TEST(AbsentFile, IsAnErrorWhenNoWeightsAreHereAtAllOrAListOfTheFolderNamesIt) {
  EXPECT_THAT(said(run(check_publisher_size, lacking({file_of("config.json", 10)}, {{"model.safetensors", EvidenceKind::hf_tree}}))),
              ElementsAre("error publisher.absent_file model.safetensors"));
  EXPECT_THAT(said(run(check_publisher_size, lacking({weights("a.gguf")}, {{"b.gguf", EvidenceKind::sha256sums}}))),
              ElementsAre("error publisher.absent_file b.gguf"));
}

TEST(AbsentFile, NamesTheTensorsThatAnIndexGivesToIt) {
  ModelFacts model = lacking({weights("unet/d-00001-of-00002.safetensors")}, {{"unet/d-00002-of-00002.safetensors", EvidenceKind::hf_tree}});
  formats::IndexRecord record;
  record.folder = "unet";
  record.absent_weights = {{"y", "d-00002-of-00002.safetensors"}, {"x", "d-00002-of-00002.safetensors"}, {"z", "other.safetensors"}};
  model.table.indexes = {record};
  EXPECT_THAT(run(check_publisher_size, model).at(0).tensors, ElementsAre("x", "y"));
}

TEST(PublisherList, ThatCannotBeReadIsAWarning) {
  ModelFacts model = model_of({});
  model.evidence.notes = {"SHA256SUMS: line 3 is no checksum line"};
  const auto findings = run(check_publisher_size, model);
  EXPECT_THAT(said(findings), ElementsAre("warning publisher.bad_list "));
}

}  // namespace
}  // namespace vouchfs::doctor
