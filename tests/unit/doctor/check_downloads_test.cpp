// Downloads that have not ended are told apart from whole models, damaged files and what a finished download left.
#include "support/gguf_writer.h"
#include "unit/doctor/sample_facts.h"

namespace vouchfs::doctor {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string small_gguf() {
  tests::GgufWriter writer;
  writer.key_text("general.architecture", "llama");
  return writer.tensor("a", 0, {8}, 32).write();
}

constexpr const char* kEndings[] = {".part", ".aria2", ".crdownload", ".partial", ".download", ".incomplete", ".tmp"};

TEST(CheckDownloads, AFileBesideItsControlFileIsIncompleteWhateverItLooksLike) {
  const std::string good = small_gguf();
  for (const std::string& bytes : {good, good.substr(0, good.size() - 7), std::string(4096, '\0'), std::string()}) {
    const ScratchFolder folder;
    folder.put("config.json", "{}");
    folder.put("model.gguf", bytes);
    folder.put("model.gguf.aria2", std::string("\x00\x01 pieces", 9));
    for (const char* below : {"", "model.gguf"}) {
      const Report report = folder.diagnose(below, true);
      ASSERT_THAT(said(report.findings), ElementsAre("error file.unfinished_download model.gguf")) << below << " " << bytes.size();
      EXPECT_EQ(report.verdict, Verdict::incomplete);
      EXPECT_THAT(report.findings.front().message, HasSubstr("model.gguf.aria2"));
      EXPECT_THAT(report.findings.front().advice, HasSubstr("aria2c -c"));
      EXPECT_THAT(report.findings.front().advice, Not(HasSubstr("remove")));
    }
    EXPECT_THAT(said(folder.diagnose("model.gguf.aria2").findings), ElementsAre("error file.unfinished_download model.gguf.aria2"));
  }
}

TEST(CheckDownloads, AFolderWithNothingButAPartIsIncomplete) {
  for (const char* ending : kEndings) {
    for (const std::string& bytes : {small_gguf().substr(0, 40), std::string("12345678"), std::string()}) {
      const ScratchFolder folder;
      const std::string name = std::string("model.gguf") + ending;
      folder.put(name, bytes);
      for (const std::string& below : {std::string(), name}) {
        const Report report = folder.diagnose(below);
        ASSERT_THAT(said(report.findings), ElementsAre("error file.unfinished_download " + name)) << below;
        EXPECT_EQ(report.verdict, Verdict::incomplete);
        EXPECT_THAT(report.findings.front().message, HasSubstr("the download of model.gguf has not ended"));
      }
    }
  }
}

TEST(CheckDownloads, APartBesideAGoodFileOfItsNameIsANote) {
  const ScratchFolder folder;
  folder.put("model.gguf", small_gguf());
  folder.put("model.gguf.part", small_gguf().substr(0, 40));
  for (const char* below : {"", "model.gguf.part"}) EXPECT_THAT(said(folder.diagnose(below).findings), ElementsAre("note file.stale_partial model.gguf.part"));
  EXPECT_THAT(folder.diagnose("model.gguf").findings, IsEmpty());
}

TEST(CheckDownloads, APartOfAnotherFileThanTheWeightsThatAreHereIsANoteThatDoesNotSayToRemoveIt) {
  const ScratchFolder folder;
  folder.put("model.gguf", small_gguf());
  folder.put("other.gguf.part", small_gguf().substr(0, 40));
  const Report report = folder.diagnose();
  ASSERT_THAT(said(report.findings), ElementsAre("note file.stale_partial other.gguf.part"));
  EXPECT_THAT(report.findings.front().message, HasSubstr("other.gguf itself is not here"));
  EXPECT_THAT(report.findings.front().advice, HasSubstr("let the download go on"));
}

TEST(CheckDownloads, TheEmptyFileWithWhichABrowserHoldsTheNameIsNoDamage) {
  const ScratchFolder folder;
  folder.put("model.gguf");
  folder.put("model.gguf.part", "12345678");
  const Report report = folder.diagnose();
  EXPECT_THAT(said(report.findings), ElementsAre("error file.unfinished_download model.gguf.part"));
  EXPECT_EQ(report.verdict, Verdict::incomplete);
}

TEST(CheckDownloads, AFolderOfModelsHoldsTheOneOnItsWay) {
  const ScratchFolder folder;
  folder.put("a/model.gguf", small_gguf());
  folder.put("b/model.gguf.crdownload", "12345678");
  EXPECT_THAT(said(folder.diagnose().findings), ElementsAre("error file.unfinished_download b/model.gguf.crdownload"));
}

TEST(CheckDownloads, TextsOnTheirWayAreNoModel) {
  const ScratchFolder folder;
  folder.put("notes.txt.tmp", "12345678");
  EXPECT_THAT(said(folder.diagnose().findings), ElementsAre("error path.not_a_model ", "note file.stale_partial notes.txt.tmp"));
}

}  // namespace
}  // namespace vouchfs::doctor
