#include "view/status_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "view/text_columns.h"

namespace vouchfs::view {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

json status_of(const std::string& name, const std::string& shard) {
  return {{"mount_point", "/mnt/models"},
          {"models",
           {{{"name", name},
             {"digest", "sha256:" + std::string(64, 'a')},
             {"trust", "pinned"},
             {"source", "/data/" + name},
             {"seal", "/data/" + name + "/.vouch"},
             {"files", 3},
             {"bytes", 5000000},
             {"shards", {{{"path", "fine.safetensors"}, {"state", "ok"}}, {{"path", shard}, {"state", "bad"}, {"known_bad_blocks", 2}}}},
             {"known_bad", {{{"file", shard}, {"block", 17}, {"tensors", {"layer.1.weight"}}}, {{"file", shard}, {"block", 18}, {"tensors", json::array()}}}},
             {"known_bad_total", 2}}}},
          {"bytes_served", 1048576},
          {"bytes_verified", 2097152},
          {"cache_hit_ratio", 0.931},
          {"repairs", 0},
          {"readahead_kb", 128},
          {"restarts", 1},
          {"versions", {{"vouchfs", "0.1.0"}, {"libfuse", "3.14.0"}, {"hash", "mb"}}},
          {"supervisor_pid", nullptr},
          {"worker_pid", 4711},
          {"counters", {{"failed_reads", 3}, {"refused_opens", 1}, {"corrupt_blocks", 2}}}};
}

std::string text_of(const json& status) {
  const auto text = status_text(status.dump());
  EXPECT_TRUE(text);
  return text ? *text : std::string();
}

std::size_t widest(const std::string& text) {
  std::size_t columns = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) columns = std::max(columns, columns_of(line));
  return columns;
}

TEST(StatusText, SaysWhatAPersonNeeds) {
  const std::string text = text_of(status_of("tiny", "model-00002-of-00002.safetensors"));
  for (const char* fact : {"/mnt/models", "model tiny", "sha256:aaaa", "pinned", "/data/tiny/.vouch", "3 files, 4.8 MiB", "ok  fine.safetensors",
                           "bad  model-00002-of-00002.safetensors, 2 known-bad blocks", "block 17", "layer.1.weight", "1.0 MiB, verified 2.0 MiB",
                           "3 reads, 1 open refused, 2 corrupt blocks", "93 %", "128 KiB", "worker 4711, 1 restart", "libfuse 3.14.0"})
    EXPECT_THAT(text, HasSubstr(fact));
  EXPECT_LT(text.find("bad  model"), text.find("ok  fine")) << "bad shards come first";
}

TEST(StatusText, NeverExceedsItsColumns) {
  const std::string wide = std::string(300, 'w') + "\xe4\xb8\xad\xe4\xb8\xad" + std::string(300, 'z');
  json status = status_of(wide, wide);
  status["mount_point"] = "/" + wide;
  status["models"][0]["known_bad"][0]["tensors"] = {wide, wide, wide};
  status["versions"]["libfuse"] = wide;
  const std::string text = text_of(status);
  EXPECT_LE(widest(text), kStatusColumns);
  EXPECT_GT(widest(text), 90U) << "the lines should be used";
  EXPECT_THAT(text, HasSubstr(" and 2 more"));
  EXPECT_THAT(text, HasSubstr(", block 17")) << "the place is never cut away";
}

TEST(StatusText, LimitsLongListsAndSaysHowMuchIsLeftOut) {
  json status = status_of("m", "s");
  json& model = status["models"][0];
  for (int i = 0; i < 500; ++i) {
    model["shards"].push_back({{"path", "ok" + std::to_string(i)}, {"state", "ok"}});
    model["known_bad"].push_back({{"file", "s"}, {"block", i}, {"tensors", json::array()}});
  }
  model["known_bad_total"] = 70000;
  const std::string text = text_of(status);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 100);
  EXPECT_THAT(text, HasSubstr("and 462 more"));
  EXPECT_THAT(text, HasSubstr("and 69980 more"));
}

TEST(StatusText, IsSafeOnATerminal) {
  json status = status_of("m\x1b[31m\n", "s");
  const std::string text = text_of(status);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("m\\x1b[31m\\x0a"));
}

TEST(StatusText, BearsMissingAndStrangeValues) {
  EXPECT_TRUE(status_text("{}"));
  EXPECT_TRUE(
      status_text(R"({"models":[{"name":3,"shards":{},"known_bad":[1,{"tensors":7}],"files":-1},5],"counters":[],"versions":null,"cache_hit_ratio":"x"})"));
  for (const char* text : {"", "[]", "nonsense", "3"}) {
    const auto result = status_text(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::bad_format);
  }
}

TEST(TextColumns, CutsInTheMiddleAndNeverInsideACharacter) {
  EXPECT_EQ(fitted("short", 5), "short");
  EXPECT_EQ(fitted("abcdefghij", 5), "ab…ij");
  const std::string wide = "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad";
  EXPECT_EQ(columns_of(wide), 8U);
  EXPECT_EQ(fitted(wide, 5), "\xe4\xb8\xad…\xe4\xb8\xad");
  EXPECT_EQ(fitted("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 3), "\xc3\xa9…\xc3\xa9");
}

TEST(TextColumns, ListsAsManyNamesAsFit) {
  EXPECT_EQ(fitted_list({"a", "b", "c"}, 80), "a, b, c");
  EXPECT_EQ(fitted_list({"aaaa", "bbbb", "cccc"}, 16), "aaaa, bbbb, cccc");
  EXPECT_EQ(fitted_list({"aaaa", "bbbb", "cccc"}, 15), "aaaa and 2 more");
  EXPECT_EQ(fitted_list({"aaaa", "bbbb", std::string(12, 'c')}, 21), "aaaa, bbbb and 1 more");
  EXPECT_EQ(fitted_list({"aaaabbbbcccc", std::string(9, 'd')}, 18), "aaa…ccc and 1 more");
  EXPECT_EQ(fitted_list({}, 10), "");
}

}  // namespace
}  // namespace vouchfs::view
