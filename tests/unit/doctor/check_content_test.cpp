// What stands in place of weights: nothing, zeros, pointers, pages, other formats.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <tuple>

#include "support/gguf_writer.h"
#include "unit/doctor/sample_facts.h"
#include "unit/doctor/sample_weights.h"

namespace vouchfs::doctor {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kFile = "model.safetensors";
const std::string kZip = std::string("PK\x03\x04") + std::string(26, '\0');

std::vector<std::string> said_of(const std::string& name, const std::string& bytes) {
  const ScratchFolder folder;
  folder.put(name, bytes);
  return said(folder.diagnose().findings);
}

TEST(CheckForeignContent, OtherFormatsUnderAWeightNameAreNamed) {
  const std::vector<std::pair<std::string, std::string>> kinds = {{"a zip archive", kZip},
                                                                  {"an HDF5 file", "\x89HDF\r\n\x1a\n" + noise(64)},
                                                                  {"a NumPy array", "\x93NUMPY" + noise(64)},
                                                                  {"xz data", std::string("\xfd"
                                                                                          "7zXZ\0",
                                                                                          6) +
                                                                                  noise(64)}};
  for (const auto& [words, bytes] : kinds) {
    const ScratchFolder folder;
    folder.put(kFile, bytes);
    const auto findings = folder.diagnose().findings;
    ASSERT_THAT(said(findings), ElementsAre("error content.other_format model.safetensors"));
    EXPECT_THAT(findings.front().message, HasSubstr(words));
  }
}

TEST(CheckForeignContent, AnswersOfServersAreQuoted) {
  for (const char* text : {"Entry not found", "Invalid username or password.", "{\"error\":\"Access to model org/x is restricted\"}", "Repository not found\n",
                           "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>"})
    EXPECT_THAT(said_of(kFile, text), ElementsAre("error content.error_text model.safetensors")) << text;
  EXPECT_THAT(said_of(kFile, "<!DOCTYPE html><html><head><title>403</title>"), ElementsAre("error content.web_page model.safetensors"));
  EXPECT_THAT(said_of("pytorch_model.bin", "\n<html><body>"), ElementsAre("error content.web_page pytorch_model.bin"));
}

TEST(CheckForeignContent, NamesThatPromiseNoWeightsAreLeftAlone) {
  const ScratchFolder folder;
  folder.put(kFile, weights({{"a"}}));
  folder.put("training_args.bin", noise(200));
  folder.put("notes.txt", "<html>");
  folder.put("ggml-model.bin", "lmgg" + noise(100));
  folder.put("model.bin", "\x06" + noise(500));  // CTranslate2
  EXPECT_THAT(said(folder.diagnose().findings), IsEmpty());
}

TEST(CheckForeignContent, NoiseIsOfNoKnownFormat) {
  EXPECT_THAT(said_of(kFile, "\xEE\xDD" + noise(300)), ElementsAre("error content.unknown model.safetensors"));
}

TEST(CheckForeignContent, ABomIsToldWithWhatIsWrongBehindIt) {
  const std::string good = weights({{"a"}, {"b"}});
  EXPECT_THAT(said_of(kFile, "\xEF\xBB\xBF" + good), ElementsAre("error content.bom model.safetensors"));
  const ScratchFolder folder;
  folder.put(kFile, "\xEF\xBB\xBF" + good.substr(0, good.size() - 1));
  const auto findings = folder.diagnose().findings;
  ASSERT_THAT(said(findings), ElementsAre("error content.bom model.safetensors"));
  EXPECT_THAT(findings.front().message, HasSubstr("1 bytes short"));
  EXPECT_THAT(findings.front().command, IsEmpty());
}

// Ingest mends safetensors files alone (decision 0018): to send others there is advice that does nothing.
TEST(CheckForeignContent, AByteOrderMarkIsLeftToAViewOnlyWhereOneMendsIt) {
  tests::GgufWriter gguf;
  gguf.key_text("general.architecture", "llama");
  const std::string gguf_bytes = gguf.tensor("a", 0, {8}, 32).write();
  for (const auto& [name, bytes, by_view] :
       std::vector<std::tuple<std::string, std::string, bool>>{{kFile, weights({{"a"}}), true}, {"model.gguf", gguf_bytes, false}}) {
    const ScratchFolder folder;
    folder.put(name, "\xEF\xBB\xBF" + bytes);
    const auto findings = folder.diagnose().findings;
    ASSERT_THAT(said(findings), ElementsAre("error content.bom " + name));
    EXPECT_EQ(findings.front().advice.find("--fix=bom") != std::string::npos, by_view) << name;
    EXPECT_THAT(findings.front().command, HasSubstr("tail -c +4 ")) << name;
    EXPECT_THAT(findings.front().loader, Not(IsEmpty())) << name;
  }
}

// A header length of 8312 begins with the bytes of a zlib stream; such a file is good.
TEST(CheckForeignContent, ALengthThatLooksLikeAMagicIsParsedFirst) {
  std::string json = header_of({{"a"}});
  json.resize(8312, ' ');
  EXPECT_THAT(said_of(kFile, formats::test::file_of(json, noise(8))), IsEmpty());
}

TEST(CheckForeignContent, ConvertedLineEndsAreOneFinding) {
  std::string data;
  for (int i = 0; i < 400; ++i) data += "row\n" + noise(9);
  std::erase(data, '\r');
  const std::string whole = formats::test::file_of(header_of({{"x", data.size()}}), data);
  std::string converted;
  for (const char c : whole) converted += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_THAT(said_of(kFile, whole), IsEmpty());
  EXPECT_THAT(said_of(kFile, converted), ElementsAre("error text.crlf model.safetensors"));
}

// Text in a tensor may hold both kinds of line ends; a cut file with such text is cut, not converted.
TEST(CheckForeignContent, MixedLineEndsAreNoConversion) {
  std::string data;
  for (int i = 0; i < 200; ++i) data += i % 2 == 0 ? "row\r\n" : "row\n";
  const std::string whole = formats::test::file_of(header_of({{"x", data.size()}}), data);
  EXPECT_THAT(said_of(kFile, whole.substr(0, whole.size() - 9)), ElementsAre("error safetensors.truncated model.safetensors"));
}

TEST(CheckNeverWritten, ZerosAreToldApartFromAZeroHead) {
  const std::string good = weights({{"a", 64}});
  EXPECT_THAT(said_of(kFile, std::string(5000, '\0')), ElementsAre("error file.never_written model.safetensors"));
  const ScratchFolder folder;
  folder.put(kFile, std::string(4096, '\0') + good);
  const auto findings = folder.diagnose().findings;
  ASSERT_THAT(said(findings), ElementsAre("error file.zero_head model.safetensors"));
  EXPECT_EQ(findings.front().length, 4096U);
}

TEST(CheckNeverWritten, AHoleAtTheFrontIsNotRead) {
  const ScratchFolder folder;
  folder.put(kFile, "");
  stdfs::resize_file(folder.path(kFile), 1ULL << 40);
  std::fstream(folder.path(kFile), std::ios::in | std::ios::out | std::ios::binary).seekp((1LL << 40) - 100).write("data", 4);
  const auto findings = folder.diagnose().findings;
  ASSERT_THAT(said(findings), ElementsAre("error file.zero_head model.safetensors"));
  EXPECT_EQ(findings.front().length, (1ULL << 40) - 100);
  EXPECT_THAT(findings.front().message, HasSubstr("never written"));
}

TEST(CheckLfsPointer, NamesWhatTheFileShouldBe) {
  const std::string oid(64, 'a');
  const ScratchFolder folder;
  folder.put("sub/tokenizer.model", "version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize 12345\n");
  folder.put(kFile, weights({{"a"}}));
  folder.put(".git/HEAD", "ref: refs/heads/main\n");
  const auto findings = folder.diagnose().findings;
  ASSERT_THAT(said(findings), ElementsAre("error lfs.pointer sub/tokenizer.model"));
  EXPECT_THAT(findings.front().message, HasSubstr(oid));
  EXPECT_THAT(findings.front().message, HasSubstr("12345"));
  EXPECT_THAT(findings.front().command, HasSubstr("lfs pull --include=sub/tokenizer.model"));
}

TEST(CheckLfsPointer, OfAPictureIsANote) {
  const ScratchFolder folder;
  folder.put(kFile, weights({{"a"}}));
  folder.put("figures/curve.png", "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, 'b') + "\nsize 9\n");
  const Report report = folder.diagnose();
  EXPECT_THAT(said(report.findings), ElementsAre("note lfs.pointer figures/curve.png"));
  EXPECT_EQ(report.verdict, Verdict::whole);
}

TEST(CheckEmptyFile, AnyWeightNameCounts) {
  for (const char* name : {"model.bin", "model.gguf", "weights.pt"}) EXPECT_THAT(said_of(name, ""), ElementsAre("error file.empty " + std::string(name)));
}

TEST(CheckAccess, LinksAndSpecialFilesAreToldApart) {
  const ScratchFolder folder;
  folder.put(kFile, weights({{"a"}}));
  folder.link("gone.safetensors", "../nowhere");
  folder.link("round.safetensors", "round.safetensors");
  folder.link("sub/up", "..");
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  const auto findings = folder.diagnose().findings;
  EXPECT_THAT(said(findings),
              ElementsAre("error link.dangling gone.safetensors", "error file.special pipe", "error link.loop round.safetensors", "error link.loop sub/up"));
}

TEST(CheckAccess, AFolderUnderTheNameOfAShardIsOneFinding) {
  const ScratchFolder folder;
  folder.put("model-00001-of-00002.safetensors", weights({{"a"}}));
  folder.put("model-00002-of-00002.safetensors/inside", "x");
  folder.put("model.safetensors.index.json", index_of({{"a", "model-00001-of-00002.safetensors"}, {"b", "model-00002-of-00002.safetensors"}}));
  const auto findings = folder.diagnose().findings;
  ASSERT_THAT(said(findings), ElementsAre("error file.special model-00002-of-00002.safetensors"));
  EXPECT_THAT(findings.front().loader.front(), HasSubstr("os error 19"));
  EXPECT_THAT(findings.front().tensors, ElementsAre("b"));
}

TEST(CheckAccess, AFolderOrFileWithoutAModelSaysSo) {
  const ScratchFolder folder;
  folder.put("notes.txt", "hello");
  const Report report = folder.diagnose();
  EXPECT_THAT(said(report.findings), ElementsAre("error path.not_a_model "));
  EXPECT_EQ(report.verdict, Verdict::unusable);
  EXPECT_THAT(said(folder.diagnose("notes.txt").findings), ElementsAre("error path.not_a_model notes.txt"));
}

TEST(CheckAccess, AFolderOfATokenizerAloneIsWhole) {
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "preprocessor_config.json", "processor_config.json", "scheduler_config.json"}) {
    const ScratchFolder folder;
    folder.put(name, "{}");
    folder.put("special_tokens_map.json", "{}");
    const Report report = folder.diagnose();
    EXPECT_THAT(said(report.findings), ElementsAre("note path.not_a_model ")) << name;
    EXPECT_EQ(report.verdict, Verdict::whole) << name;
    EXPECT_THAT(report.findings.front().message, HasSubstr(name));
    EXPECT_THAT(report.findings.front().advice, HasSubstr("nothing needs to be done"));
  }
}

TEST(CheckAccess, FilesOfNoModelBesideNoTokenizerStayAnError) {
  const ScratchFolder folder;
  folder.put("special_tokens_map.json", "{}");
  EXPECT_THAT(said(folder.diagnose().findings), ElementsAre("error path.not_a_model "));
}

TEST(CheckTextFiles, JsonThatPythonTakesIsNoFault) {
  for (const char* text : {R"({"a": NaN, "b": [-Infinity, Infinity]})", R"({"a": "\ud83d alone", "b": "NaN"})", R"({"a": 1, "a": 2})", "[]"}) {
    const ScratchFolder folder;
    folder.put(kFile, weights({{"a"}}));
    folder.put("tokenizer_config.json", text);
    EXPECT_THAT(said(folder.diagnose().findings), IsEmpty()) << text;
  }
}

TEST(CheckTextFiles, JsonThatPythonRefusesIsToldWithItsByte) {
  for (const auto& [text, offset] :
       std::vector<std::pair<std::string, std::uint64_t>>{{R"({"a": 1,})", 8}, {R"({"a": NaNa})", 9}, {R"({"a": "x)", 8}, {"{'a': 1}", 1}}) {
    const ScratchFolder folder;
    folder.put(kFile, weights({{"a"}}));
    folder.put("config.json", text);
    const auto findings = folder.diagnose().findings;
    ASSERT_THAT(said(findings), ElementsAre("error json.broken config.json")) << text;
    EXPECT_EQ(findings.front().offset, offset) << text;
  }
}

TEST(CheckTextFiles, EmptyFilesPagesAndMarksHaveTheirOwnNames) {
  for (const auto& [text, code] : std::vector<std::pair<std::string, std::string>>{{"", "file.empty"},
                                                                                   {"<html>", "content.web_page"},
                                                                                   {"Entry not found", "content.error_text"},
                                                                                   {"\xEF\xBB\xBF{}", "json.bom"},
                                                                                   {std::string(9, '\0'), "file.never_written"}}) {
    const ScratchFolder folder;
    folder.put(kFile, weights({{"a"}}));
    folder.put("config.json", text);
    EXPECT_THAT(said(folder.diagnose().findings), ElementsAre("error " + code + " config.json"));
  }
}

TEST(CheckTextFiles, OtherJsonFilesAreNoneOfOurs) {
  const ScratchFolder folder;
  folder.put(kFile, weights({{"a"}}));
  folder.put("settings.json", "// comments\n{}");
  EXPECT_THAT(said(folder.diagnose().findings), IsEmpty());
}

}  // namespace
}  // namespace vouchfs::doctor
