// The catalogue, and how findings take from it.
#include "doctor/catalogue.h"

#include <algorithm>
#include <set>

#include "unit/doctor/sample_facts.h"

namespace vouchfs::doctor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Catalogue, IsSortedAndHasEachCodeOnce) {
  std::vector<std::string_view> codes;
  for (const CodeFacts& facts : catalogue()) codes.push_back(facts.code);
  EXPECT_TRUE(std::is_sorted(codes.begin(), codes.end()));
  EXPECT_EQ(std::set<std::string_view>(codes.begin(), codes.end()).size(), codes.size());
  EXPECT_GT(codes.size(), 80U);
}

TEST(Catalogue, SaysWhatACodeMeansAndWhatToDo) {
  for (const CodeFacts& facts : catalogue()) {
    EXPECT_THAT(facts.title, Not(IsEmpty())) << facts.code;
    EXPECT_THAT(facts.advice, Not(IsEmpty())) << facts.code;
    EXPECT_EQ(facts.severity == Severity::error, facts.verdict != Verdict::whole) << facts.code;
  }
}

TEST(Catalogue, FindsEveryCodeAndNoOther) {
  for (const CodeFacts& facts : catalogue()) EXPECT_EQ(find_code(facts.code), &facts);
  EXPECT_EQ(find_code("safetensors.trunc"), nullptr);
  EXPECT_EQ(find_code("zzz"), nullptr);
}

Finding finding_of(const char* code) {
  Finding finding;
  finding.code = code;
  finding.file = "x";
  return finding;
}

TEST(Findings, TakeFromTheCatalogueWhatTheCheckLeftOut) {
  Findings findings;
  findings.add(finding_of("safetensors.truncated"));
  findings.add(finding_of("safetensors.no_tensors"));
  Finding own = finding_of("safetensors.truncated");
  own.severity = Severity::warning;
  own.advice = "own";
  own.loader = {"own"};
  findings.add(own);
  const auto& all = findings.all();
  EXPECT_EQ(all[0].severity, Severity::error);
  EXPECT_THAT(all[0].loader, ElementsAre("Error while deserializing header: incomplete metadata, file not fully covered",
                                         "Error while deserializing header: MetadataIncompleteBuffer"));
  EXPECT_THAT(all[0].advice, Not(IsEmpty()));
  EXPECT_EQ(all[1].severity, Severity::warning);
  EXPECT_EQ(all[2].severity, Severity::warning);
  EXPECT_EQ(all[2].advice, "own");
  EXPECT_THAT(all[2].loader, ElementsAre("own"));
}

TEST(Findings, OnlyAnErrorBarsLaterChecksOfAFile) {
  Findings findings;
  findings.add(finding_of("safetensors.no_format"));
  EXPECT_FALSE(findings.has_error("x"));
  findings.add(finding_of("file.empty"));
  EXPECT_TRUE(findings.has_error("x"));
  EXPECT_FALSE(findings.has_error("y"));
}

TEST(ShellWord, QuotesOnlyWhatAShellWouldTakeApart) {
  EXPECT_EQ(shell_word("models/a-b_c.1"), "models/a-b_c.1");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
}

}  // namespace
}  // namespace vouchfs::doctor
