// ingest and the publisher's digests where an interrupted run goes on: what was taken over is checked like what was read.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "ingest/ingest.h"
#include "unit/ingest/model_folder.h"

namespace vouchfs::ingest {
namespace {

using test::ModelFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kCommit(40, 'c');

// A refused ingest leaves finished work like an interrupted one: large.bin is in it. What refuses is small.txt.
class PublisherResume : public ::testing::Test {
 protected:
  void SetUp() override {
    model.put_noise("large.bin", 2U << 20);
    model.put("small.txt", "hello");
    model.put("SHA256SUMS", std::string(64, '0') + "  small.txt\n");
  }
  void refuse_once() const {
    const auto report = model.ingest();
    ASSERT_FALSE(report);
    ASSERT_EQ(report.error().code, ErrorCode::untrusted);
    ASSERT_THAT(report.error().describe(), AllOf(HasSubstr("small.txt"), HasSubstr("bytes"), HasSubstr("SHA256SUMS")));
    age_records();
    test::fs::remove(model.path("SHA256SUMS"));
  }
  // A record counts only for a file that was at rest two seconds before it was read.
  void age_records() const {
    int records = 0;
    for (const std::string& name : test::names_below(model.path(".vouch/work"))) {
      if (name.find(".json") == std::string::npos) continue;
      std::string text = model.get(".vouch/work/" + name);
      text.at(text.find("\"started_ns\":") + 13) = '8';
      model.put(".vouch/work/" + name, text);
      ++records;
    }
    ASSERT_EQ(records, 1);
  }
  void put_note(const std::string& git_sha1) const {
    model.put(".cache/huggingface/download/large.bin.metadata", kCommit + "\n" + git_sha1 + "\n99999999999\n");
  }
  std::string git_sha1() const { return test::first_word(test::run_tool({"git", "hash-object", "--no-filters", model.path("large.bin")})); }
  std::string sha256() const { return test::first_word(test::run_tool({"sha256sum", model.path("large.bin")})); }
  ModelFolder model;
};

TEST_F(PublisherResume, KeepsTheFinishedWorkOfARefusedIngest) {
  refuse_once();
  model.put("SHA256SUMS", sha256() + "  large.bin\n");
  const auto report = model.ingest();
  ASSERT_TRUE(report) << report.error().describe();
  EXPECT_EQ(report->resumed_files, 1U);
  EXPECT_EQ(report->publisher.ok, 1U);
  EXPECT_EQ(report->publisher.without, std::vector<std::string>{"small.txt"});
}

TEST_F(PublisherResume, ChecksAFileThatWasTakenOver) {
  refuse_once();
  model.put("SHA256SUMS", std::string(64, 'a') + "  large.bin\n");
  const auto report = model.ingest();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::untrusted);
  EXPECT_THAT(report.error().describe(), AllOf(HasSubstr("large.bin"), HasSubstr(sha256()), HasSubstr(std::string(64, 'a'))));
}

TEST_F(PublisherResume, ReadsAFileAgainWhoseGitNameIsNotOnRecord) {
  refuse_once();
  put_note(git_sha1());
  const auto report = model.ingest();
  ASSERT_TRUE(report) << report.error().describe();
  EXPECT_EQ(report->resumed_files, 0U);
  EXPECT_EQ(report->publisher.ok, 1U);
}

TEST_F(PublisherResume, TakesAGitNameFromTheRecord) {
  put_note(git_sha1());
  refuse_once();
  const auto good = model.ingest();
  ASSERT_TRUE(good) << good.error().describe();
  EXPECT_EQ(good->resumed_files, 1U);
  EXPECT_EQ(good->publisher.ok, 1U);
}

TEST_F(PublisherResume, ComparesAGitNameFromTheRecord) {
  put_note(git_sha1());
  refuse_once();
  put_note(std::string(40, 'd'));
  const auto report = model.ingest();
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().describe(), AllOf(HasSubstr("git-sha1:" + git_sha1()), HasSubstr(std::string(40, 'd')), HasSubstr("hf-local-dir")));
}

TEST(PublisherCheckOfAFile, ComparesAllItsEvidenceAndNotOnlyTheStrongest) {
  const ModelFolder model;
  model.put("a.txt", "hello");
  model.put("SHA256SUMS", test::first_word(test::run_tool({"sha256sum", model.path("a.txt")})) + "  a.txt\n");
  model.put(".cache/huggingface/download/a.txt.metadata", kCommit + "\n" + std::string(40, 'd') + "\n99999999999\n");
  const auto report = model.ingest();
  ASSERT_FALSE(report) << "one digest fits, the other does not";
  EXPECT_THAT(report.error().describe(), HasSubstr("hf-local-dir"));
}

TEST(PublisherCheckOfAFile, OfNoBytesHasAGitNameToo) {
  const ModelFolder model;
  model.put("__init__.py", "");
  model.put(".cache/huggingface/download/__init__.py.metadata", kCommit + "\ne69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n99999999999\n");
  const auto report = model.ingest();
  ASSERT_TRUE(report) << report.error().describe();
  EXPECT_EQ(report->publisher.ok, 1U);
}

}  // namespace
}  // namespace vouchfs::ingest
