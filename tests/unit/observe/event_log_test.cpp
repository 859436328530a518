#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "observe/event.h"

namespace vouchfs::observe {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

Event corrupt_block(std::uint64_t block, const std::string& file = "a.safetensors") {
  Event event;
  event.event = "corrupt_block";
  event.model = "m";
  event.file = file;
  event.block = block;
  event.offset = block * 4096;
  event.length = 4096;
  event.tensors = {"layer.0.weight"};
  event.expected = std::string(64, 'a');
  event.actual = std::string(64, 'b');
  event.sources = {{"model", "mismatch"}};
  event.result = "eio";
  event.pid = 7;
  event.uid = 1000;
  return event;
}

std::vector<json> rows(const EventLog& log, const std::optional<std::string>& model = std::nullopt) {
  std::vector<json> out;
  std::istringstream lines(log.to_json_lines(model));
  for (std::string line; std::getline(lines, line);) out.push_back(json::parse(line));
  return out;
}

// Runs `work` and returns what it logged.
template <class Work>
std::string logged(Work work) {
  testing::internal::CaptureStderr();
  work();
  return testing::internal::GetCapturedStderr();
}

class EventLogTest : public testing::Test {
 protected:
  // The human lines belong into the tests that look at them only.
  void SetUp() override { testing::internal::CaptureStderr(); }
  void TearDown() override { testing::internal::GetCapturedStderr(); }
};

TEST_F(EventLogTest, EveryFieldIsThereWithItsValue) {
  EventLog log;
  log.record(corrupt_block(3));
  const json row = rows(log).at(0);
  EXPECT_EQ(row["event"], "corrupt_block");
  EXPECT_EQ(row["model"], "m");
  EXPECT_EQ(row["file"], "a.safetensors");
  EXPECT_EQ(row["block"], 3);
  EXPECT_EQ(row["offset"], 12288);
  EXPECT_EQ(row["length"], 4096);
  EXPECT_EQ(row["tensors"], json::array({"layer.0.weight"}));
  EXPECT_EQ(row["expected"], std::string(64, 'a'));
  EXPECT_EQ(row["actual"], std::string(64, 'b'));
  EXPECT_EQ(row["sources"], json::parse(R"([{"name":"model","outcome":"mismatch"}])"));
  EXPECT_EQ(row["result"], "eio");
  EXPECT_EQ(row["pid"], 7);
  EXPECT_EQ(row["uid"], 1000);
  EXPECT_EQ(row["count"], 1);
  EXPECT_THAT(row["time"].get<std::string>(), testing::MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z"));
  EXPECT_FALSE(row.contains("tree_level") || row.contains("changes") || row.contains("detail"));
}

TEST_F(EventLogTest, AnEmptyEventHasEveryFieldToo) {
  EventLog log;
  log.record(Event{});
  const json row = rows(log).at(0);
  for (const char* field :
       {"time", "event", "model", "file", "block", "offset", "length", "tensors", "expected", "actual", "sources", "result", "pid", "uid", "count"})
    EXPECT_TRUE(row.contains(field)) << field;
  EXPECT_TRUE(row["block"].is_null());
  EXPECT_TRUE(row["tensors"].is_array() && row["sources"].is_array());
}

TEST_F(EventLogTest, TreeAndChangesAreThereWhenSet) {
  Event event = corrupt_block(1);
  event.tree_level = 0;
  event.tree_block = 9;
  event.changes = {"x: was a, now b"};
  event.detail = "the tree is damaged";
  EventLog log;
  log.record(event);
  const json row = rows(log).at(0);
  EXPECT_EQ(row["tree_level"], 0);
  EXPECT_EQ(row["tree_block"], 9);
  EXPECT_EQ(row["changes"], json::array({"x: was a, now b"}));
  EXPECT_EQ(row["detail"], "the tree is damaged");
}

TEST_F(EventLogTest, ARepeatCountsUpAndAddsNoLine) {
  EventLog log;
  for (int i = 0; i < 300; ++i) {
    Event event = corrupt_block(0);
    event.pid = i;  // another reader, the same event
    log.record(event);
  }
  ASSERT_EQ(rows(log).size(), 1U);
  EXPECT_EQ(rows(log)[0]["count"], 300);
  EXPECT_EQ(log.count("corrupt_block"), 300U);
}

TEST_F(EventLogTest, EachPartOfTheKeyMakesAnEventOfItsOwn) {
  std::vector<Event> events(9, corrupt_block(1));
  events[1].event = "corrupt_tree";
  events[2].model = "other";
  events[3].file = "b";
  events[4].block = 2;
  events[5].expected = "c";
  events[6].actual = "d";
  events[7].result = "served";
  events[8].detail = "e";
  EventLog log;
  for (const Event& event : events) log.record(event);
  for (const Event& event : events) log.record(event);
  ASSERT_EQ(rows(log).size(), events.size());
  for (const json& row : rows(log)) EXPECT_EQ(row["count"], 2);
}

TEST_F(EventLogTest, GivesOneModelOrAllOldestFirst) {
  EventLog log;
  Event other = corrupt_block(8);
  other.model = "other";
  log.record(corrupt_block(5));
  log.record(other);
  log.record(corrupt_block(2));
  ASSERT_EQ(rows(log).size(), 3U);
  const auto mine = rows(log, "m");
  ASSERT_EQ(mine.size(), 2U);
  EXPECT_EQ(mine[0]["block"], 5);
  EXPECT_EQ(mine[1]["block"], 2);
  EXPECT_EQ(rows(log, "nobody").size(), 0U);
}

TEST_F(EventLogTest, KeepsTheNewestAndCountsWhatItForgot) {
  EventLog log(100);
  for (std::uint64_t block = 0; block < 110; ++block) log.record(corrupt_block(block));
  const auto kept = rows(log);
  ASSERT_EQ(kept.size(), 100U);
  EXPECT_EQ(kept.front()["block"], 10);
  EXPECT_EQ(kept.back()["block"], 109);
  EXPECT_EQ(log.dropped(), 10U);
  EXPECT_EQ(log.count("corrupt_block"), 110U);
  log.record(corrupt_block(0));  // forgotten, so it comes anew
  EXPECT_EQ(rows(log).back()["block"], 0);
}

TEST_F(EventLogTest, IsBoundedInBytesTooButKeepsTheNewestHoweverLarge) {
  EventLog log(100, 10000);
  Event large = corrupt_block(0);
  large.changes = {std::string(20000, 'x')};
  for (std::uint64_t block = 0; block < 4; ++block) {
    large.block = block;
    log.record(large);
  }
  EXPECT_EQ(log.dropped(), 3U);
  ASSERT_EQ(rows(log).size(), 1U);
  EXPECT_EQ(rows(log)[0]["block"], 3);
}

TEST_F(EventLogTest, BytesThatAreNoTextDoNotBreakTheJson) {
  EventLog log;
  Event event = corrupt_block(1);
  event.model = "m\xff\n";
  log.record(event);
  EXPECT_EQ(rows(log).at(0)["model"], "m\xEF\xBF\xBD\n");
}

TEST_F(EventLogTest, CountsRightWhileManyRecordAndOneReads) {
  EventLog log;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&log] {
      for (std::uint64_t i = 0; i < 500; ++i) log.record(corrupt_block(i % 50));
    });
  for (int i = 0; i < 20; ++i) EXPECT_LE(rows(log).size(), 50U);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(log.count("corrupt_block"), 2000U);
  ASSERT_EQ(rows(log).size(), 50U);
  for (const json& row : rows(log)) EXPECT_EQ(row["count"], 40);
}

TEST(EventLine, CarriesTheFactsOnOneSafeLine) {
  Event event = corrupt_block(3);
  event.file = "a\nb\x1b[31m";
  event.tensors = {"t1", "t2", "t3", "t4", "t5", "t6", "t7"};
  event.changes = {std::string(100000, 'x')};
  const std::string line = to_line(event, 1);
  for (const char* fact :
       {"corrupt_block", "model m", "block 3", "bytes 12288 to 16383", "t1, t2, t3, t4, t5 and 2 more", "model mismatch", "pid 7", "result eio"})
    EXPECT_THAT(line, HasSubstr(fact));
  EXPECT_THAT(line, HasSubstr(std::string(64, 'a')));
  EXPECT_LT(line.size(), 2000U);
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  EXPECT_THAT(line, Not(HasSubstr("\x1b")));
}

TEST(EventLine, IsWrittenAtTheFirstTenthAndHundredthTime) {
  const std::string text = logged([] {
    EventLog log;
    for (int i = 0; i < 150; ++i) log.record(corrupt_block(0));
  });
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
  EXPECT_THAT(text, HasSubstr("10 times so far"));
  EXPECT_THAT(text, HasSubstr("100 times so far"));
}

TEST(EventLine, AWhollyDamagedFileDoesNotFloodTheLog) {
  const std::string text = logged([] {
    EventLog log;
    for (std::uint64_t block = 0; block < 1000; ++block) log.record(corrupt_block(block));
  });
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 200) << "lines of one burst";
  EXPECT_THAT(text, HasSubstr("lines were held back"));
}

}  // namespace
}  // namespace vouchfs::observe
