// Safetensors files: which rule is broken, where, and which tensors that concerns.
#include "unit/doctor/sample_facts.h"
#include "unit/doctor/sample_weights.h"

namespace vouchfs::doctor {
namespace {

using namespace test;
using formats::test::file_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::vector<Row> kThree = {{"a", 16}, {"b", 24}, {"c", 8}};
constexpr const char* kFile = "model.safetensors";

// Everything that doctor says of one file.
std::vector<Finding> findings_of(const std::string& bytes) {
  const ScratchFolder folder;
  folder.put(kFile, bytes);
  return folder.diagnose().findings;
}

Finding only(const std::string& bytes) {
  const auto findings = findings_of(bytes);
  if (findings.size() == 1) return findings.front();
  ADD_FAILURE() << findings.size() << " findings: " << testing::PrintToString(said(findings));
  return {};
}

TEST(CheckSafetensors, AGoodFileIsSilent) { EXPECT_THAT(said(findings_of(weights(kThree))), IsEmpty()); }

// At every length of a cut: where the file ends, how much is missing, which tensors are hit. The truth is computed here from the rows alone.
TEST(CheckSafetensors, EveryCutInTheDataNamesItsBytesAndTensors) {
  const std::string whole = weights(kThree);
  const std::size_t data = whole.size() - 48;
  for (std::size_t left = 0; left < 48; ++left) {
    const Finding finding = only(whole.substr(0, data + left));
    EXPECT_EQ(finding.code, "safetensors.truncated");
    EXPECT_EQ(finding.offset, data + left);
    EXPECT_EQ(finding.length, 48 - left);
    std::vector<std::string> hit;
    if (left < 16) hit.push_back("a");
    if (left < 40) hit.push_back("b");
    hit.push_back("c");
    EXPECT_EQ(finding.tensors, hit) << left;
  }
}

TEST(CheckSafetensors, EveryCutInTheHeaderIsOneFinding) {
  const std::string whole = weights(kThree);
  for (std::size_t left = 0; left < whole.size() - 48; ++left) {
    const Finding finding = only(whole.substr(0, left));
    EXPECT_EQ(finding.code, left < 8 ? "file.empty" : "safetensors.header_truncated") << left;
  }
}

TEST(CheckSafetensors, ExtraBytesAreToldByWhatTheyAre) {
  const std::string whole = weights(kThree);
  const Finding zeros = only(whole + std::string(100, '\0'));
  EXPECT_EQ(zeros.code, "safetensors.trailing_bytes");
  EXPECT_EQ(zeros.offset, whole.size());
  EXPECT_EQ(zeros.length, 100U);
  EXPECT_THAT(zeros.message, HasSubstr("zeros"));
  EXPECT_THAT(only(whole + whole).message, HasSubstr("copy of the head"));
  EXPECT_THAT(only(whole + "tail").message, Not(HasSubstr("copy")));
}

std::string entry(const std::string& name, const std::string& offsets, const std::string& rest = R"("dtype":"U8","shape":[8])") {
  return ",\"" + name + "\":{" + rest + ",\"data_offsets\":" + offsets + "}";
}
std::string header(const std::string& entries) { return "{" + kMetadata + entries + "}"; }

TEST(CheckSafetensors, OverlapNamesAllThatShareBytes) {
  const std::string json = header(entry("a", "[0,8]") + entry("b", "[4,12]") + entry("c", "[12,20]") + entry("d", "[16,24]"));
  const Finding finding = only(file_of(json, noise(24)));
  EXPECT_EQ(finding.code, "safetensors.overlap");
  EXPECT_THAT(finding.tensors, ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(finding.offset, 8 + json.size() + 4);
  EXPECT_EQ(finding.length, 4U);
}

TEST(CheckSafetensors, AGapIsTheBytesBetween) {
  const std::string json = header(entry("a", "[0,8]") + entry("b", "[13,21]"));
  const Finding finding = only(file_of(json, noise(21)));
  EXPECT_EQ(finding.code, "safetensors.gap");
  EXPECT_EQ(finding.offset, 8 + json.size() + 8);
  EXPECT_EQ(finding.length, 5U);
}

TEST(CheckSafetensors, AGapBeforeTheFirstTensorBeginsAtTheData) {
  const std::string json = header(entry("a", "[3,11]"));
  const Finding finding = only(file_of(json, noise(11)));
  EXPECT_EQ(finding.code, "safetensors.gap");
  EXPECT_EQ(finding.offset, 8 + json.size());
  EXPECT_EQ(finding.length, 3U);
}

TEST(CheckSafetensors, BitsThatFillNoBytesAreTold) {
  const Finding finding = only(file_of(header(entry("x", "[0,2]", R"("dtype":"F4","shape":[3])")), noise(2)));
  EXPECT_EQ(finding.code, "safetensors.partial_byte");
}

TEST(CheckSafetensors, AnUnknownDtypeNamesEveryTensorThatHasIt) {
  const std::string json =
      header(entry("a", "[0,8]") + entry("x", "[8,16]", R"("dtype":"F8_XYZ","shape":[8])") + entry("y", "[16,24]", R"("dtype":"F3","shape":[8])"));
  const Finding finding = only(file_of(json, noise(24)));
  EXPECT_EQ(finding.code, "safetensors.unknown_dtype");
  EXPECT_THAT(finding.tensors, ElementsAre("x", "y"));
  EXPECT_THAT(finding.message, HasSubstr("F3 of 1 tensor, F8_XYZ of 1 tensor"));
  EXPECT_THAT(finding.loader.front(), HasSubstr("unknown variant `F8_XYZ`"));
}

TEST(CheckSafetensors, MetadataThatIsNoTextIsToldApartFromBrokenJson) {
  EXPECT_EQ(only(file_of(R"({"__metadata__":{"step":[1]},"x":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})", noise(8))).code,
            "safetensors.metadata_not_text");
  EXPECT_EQ(only(file_of(R"({"__metadata__":{"step":"1"},})", noise(8))).code, "safetensors.header_json");
  EXPECT_EQ(only(file_of(R"({"__metadata__":{"step":"1",},"x":1})", noise(8))).code, "safetensors.header_json");
}

TEST(CheckSafetensors, ALengthThatFitsNothingIsNoCut) {
  std::string bytes = weights(kThree);
  bytes[6] = 1;  // 2^48 and some
  const Finding finding = only(bytes);
  EXPECT_EQ(finding.code, "safetensors.length_impossible");
  EXPECT_EQ(finding.offset, 0U);
  EXPECT_EQ(finding.length, 8U);
}

TEST(CheckSafetensors, OlderNamesOfErrorsStandBesideTheNewTexts) {
  const Finding finding = only(weights(kThree).substr(0, weights(kThree).size() - 1));
  EXPECT_THAT(finding.loader, ElementsAre("Error while deserializing header: incomplete metadata, file not fully covered",
                                          "Error while deserializing header: MetadataIncompleteBuffer"));
}

TEST(CheckSafetensorsNotes, ADtypeOfNewerVersionsIsWholeAndNamesTheVersion) {
  const std::vector<std::pair<const char*, const char*>> since = {
      {"F4", "0.6"}, {"F6_E2M3", "0.6"}, {"F8_E8M0", "0.6"}, {"C64", "0.7"}, {"F8_E4M3FNUZ", "0.8"}};
  for (const auto& [dtype, version] : since) {
    const ScratchFolder folder;
    const unsigned bytes = *formats::safetensors_dtype_bits(dtype);  // of eight elements
    folder.put(kFile, file_of(header(entry("x", "[0," + std::to_string(bytes) + "]", R"("dtype":")" + std::string(dtype) + R"(","shape":[8])")), noise(bytes)));
    const Report report = folder.diagnose();
    EXPECT_EQ(report.verdict, Verdict::whole);
    EXPECT_THAT(report.needs, ElementsAre("safetensors >= " + std::string(version)));
    EXPECT_EQ(report.errors + report.warnings, 0U);
  }
}

TEST(CheckSafetensorsNotes, OldDtypesNeedNothing) {
  const ScratchFolder folder;
  folder.put(kFile, file_of(header(entry("x", "[0,8]", R"("dtype":"F8_E4M3","shape":[8])")), noise(8)));
  EXPECT_THAT(folder.diagnose().needs, IsEmpty());
}

}  // namespace
}  // namespace vouchfs::doctor
