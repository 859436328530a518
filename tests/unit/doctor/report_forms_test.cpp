// The forms of a report for CI servers: GitHub's commands and JUnit. Names and messages come from untrusted models.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "doctor/doctor.h"
#include "doctor/report_words.h"

namespace vouchfs::doctor {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Finding finding_of(Severity severity, std::string code, std::string file) {
  Finding finding;
  finding.severity = severity;
  finding.code = std::move(code);
  finding.file = std::move(file);
  finding.message = "the file ends 8 bytes early";
  return finding;
}

Report report_of(std::vector<Finding> findings, Verdict verdict) {
  Report report;
  report.path = "no such folder/model";
  for (const Finding& finding : findings) {
    report.errors += finding.severity == Severity::error ? 1U : 0U;
    report.warnings += finding.severity == Severity::warning ? 1U : 0U;
    report.notes += finding.severity == Severity::note ? 1U : 0U;
  }
  report.findings = std::move(findings);
  report.verdict = verdict;
  return report;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; at = end + 1, end = text.find('\n', at)) lines.push_back(text.substr(at, end - at));
  EXPECT_EQ(at, text.size()) << "the last line has no end";
  return lines;
}

TEST(Annotations, AreOneLineAFindingAndOneForTheVerdict) {
  const Report report = report_of({finding_of(Severity::error, "safetensors.truncated", "a.safetensors"), finding_of(Severity::warning, "hub.no_ref", ""),
                                   finding_of(Severity::note, "index.total_size", "b.json")},
                                  Verdict::damaged);
  EXPECT_THAT(lines_of(to_annotations(report)),
              ::testing::ElementsAre("::error file=no such folder/model/a.safetensors,title=safetensors.truncated::the file ends 8 bytes early",
                                     "::warning file=no such folder/model,title=hub.no_ref::the file ends 8 bytes early",
                                     "::notice file=no such folder/model/b.json,title=index.total_size::the file ends 8 bytes early",
                                     "vouchfs doctor: no such folder/model: damaged: 1 error, 1 warning, 1 note"));
}

TEST(Annotations, EscapeWhatEndsALineOrAProperty) {
  Finding finding = finding_of(Severity::error, "lfs.pointer", "a%:,\r\n::set-env b");
  finding.message = "100% of it, line: 1\r\n::error::forged";
  const std::vector<std::string> lines = lines_of(to_annotations(report_of({finding}, Verdict::unusable)));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "::error file=no such folder/model/a%25%3A%2C%0D%0A%3A%3Aset-env b,title=lfs.pointer::100%25 of it, line: 1%0D%0A::error::forged");
}

TEST(Annotations, ShowControlCharactersAndBrokenUtf8AsText) {
  Finding finding = finding_of(Severity::error, "lfs.pointer", "x\x1b[2J\xff");
  EXPECT_THAT(to_annotations(report_of({finding}, Verdict::unusable)), HasSubstr("x\\x1b[2J\\xff"));
}

TEST(Annotations, CarryPlaceTensorsAdviceAndCommand) {
  Finding finding = finding_of(Severity::error, "safetensors.truncated", "a");
  finding.offset = 100;
  finding.length = 8;
  finding.tensors = {"x", "y"};
  finding.loader = {"incomplete metadata"};
  finding.advice = "fetch it again";
  finding.command = "hf download org/name a";
  EXPECT_THAT(to_annotations(report_of({finding}, Verdict::damaged)),
              HasSubstr("early%0Abytes 100 to 107%0Atensors x, y%0Aloaders say: incomplete metadata%0Afetch it again%0A$ hf download org/name a\n"));
}

TEST(Words, TellAFewTensorsAndCountTheRest) {
  Finding finding = finding_of(Severity::error, "safetensors.truncated", "a");
  for (std::size_t i = 0; i < kToldTensors + 3; ++i) finding.tensors.push_back("t" + std::to_string(i));
  EXPECT_THAT(tensors_text(finding), HasSubstr("t7 and 3 more"));
  EXPECT_THAT(tensors_text(finding), Not(HasSubstr("t8")));
}

TEST(Words, GiveAPlaceOfAnyForm) {
  Finding finding = finding_of(Severity::error, "x", "a");
  EXPECT_EQ(place_text(finding), "");
  finding.offset = 17;
  EXPECT_EQ(place_text(finding), "from byte 17");
  finding.length = 1;
  EXPECT_EQ(place_text(finding), "byte 17");
  finding.offset = 0;
  finding.length = ~std::uint64_t{0};
  EXPECT_EQ(place_text(finding), "bytes 0 to 18446744073709551614");
}

TEST(Junit, FailsACaseForEachErrorAndOneForTheVerdict) {
  const Report report =
      report_of({finding_of(Severity::error, "safetensors.truncated", "a"), finding_of(Severity::warning, "hub.no_ref", "")}, Verdict::damaged);
  const std::string text = to_junit({report});
  EXPECT_THAT(text, StartsWith("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
  EXPECT_THAT(text, HasSubstr("tests=\"3\" failures=\"2\" errors=\"0\">"));
  EXPECT_THAT(text, HasSubstr("<testcase classname=\"safetensors.truncated\" name=\"no such folder/model/a\""));
  EXPECT_THAT(text, HasSubstr("<system-out>warning: the file ends 8 bytes early</system-out>"));
  EXPECT_THAT(text, HasSubstr("<failure type=\"damaged\" message=\"damaged: 1 error, 1 warning, 0 notes\">"));
}

TEST(Junit, PassesAWholeModel) {
  const std::string text = to_junit({report_of({}, Verdict::whole)});
  EXPECT_THAT(text, HasSubstr("tests=\"1\" failures=\"0\""));
  EXPECT_THAT(text, HasSubstr("<testcase classname=\"verdict\" name=\"no such folder/model\"/>"));
  EXPECT_THAT(text, Not(HasSubstr("<failure")));
}

TEST(Junit, HoldsAnErrorForAPathThatWasNotExamined) {
  const std::string text = to_junit({report_of({}, Verdict::whole)}, {{"no<where", make_error(ErrorCode::not_found, "is not there", "no<where")}});
  EXPECT_THAT(text, HasSubstr("<testsuites name=\"vouchfs doctor\" tests=\"2\" failures=\"0\" errors=\"1\">"));
  EXPECT_THAT(text, HasSubstr("<testsuite name=\"vouchfs doctor no&lt;where\" tests=\"1\" failures=\"0\" errors=\"1\">"));
  EXPECT_THAT(text, HasSubstr("name=\"no&lt;where\"><error type=\""));
}

TEST(Junit, HasNoAttributeThatTheSchemaOfJenkinsForbids) {
  const std::string text = to_junit({report_of({finding_of(Severity::error, "file.empty", "a")}, Verdict::damaged)});
  EXPECT_THAT(text, Not(HasSubstr(" skipped=")));
  EXPECT_THAT(text, Not(HasSubstr(" file=")));
}

TEST(Annotations, SayAPathThatWasNotExamined) {
  const std::string text = to_annotation({"a,b\n", make_error(ErrorCode::not_found, "100% absent", "a,b")});
  EXPECT_THAT(text, StartsWith("::error file=a%2Cb%0A,title="));
  EXPECT_THAT(text, HasSubstr("100%25 absent"));
  EXPECT_EQ(lines_of(text).size(), 1U);
}

TEST(Annotations, EscapeNothingInTheVerdictWhichIsNoCommand) {
  Report report = report_of({}, Verdict::whole);
  report.path = "100%/##[stop-commands]x\n::y";
  EXPECT_EQ(to_annotations(report), "vouchfs doctor: 100%/#\\x23[stop-commands]x\\x0a::y: whole: 0 errors, 0 warnings, 0 notes\n");
}

TEST(Junit, AddsUpSeveralReports) {
  const Report bad = report_of({finding_of(Severity::error, "file.empty", "a")}, Verdict::damaged);
  EXPECT_THAT(to_junit({bad, report_of({}, Verdict::whole), bad}), HasSubstr("<testsuites name=\"vouchfs doctor\" tests=\"5\" failures=\"4\""));
}

TEST(Junit, WritesNoCharacterThatXmlForbids) {
  Finding finding = finding_of(Severity::error, "lfs.pointer", "<&>\"'\x01\x1b\xff\xEF\xBF\xBF.bin");
  finding.message = "]]> first\nsecond";
  const std::string text = to_junit({report_of({finding}, Verdict::unusable)});
  EXPECT_THAT(text, HasSubstr("&lt;&amp;&gt;&quot;'\\x01\\x1b\\xff?.bin"));
  EXPECT_THAT(text, HasSubstr("]]&gt; first&#10;second"));
  EXPECT_EQ(text.find('\x01'), std::string::npos);
  EXPECT_EQ(text.find("\xEF\xBF\xBF"), std::string::npos);
}

}  // namespace
}  // namespace vouchfs::doctor
