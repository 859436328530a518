// Which files are pinned, how they are filled, and what the status says of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "unit/view/test_model.h"
#include "view/pin_fill.h"
#include "view/pin_plan.h"
#include "view/status_text.h"

namespace vouchfs::view {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kNoLimit = 1ULL << 40;
constexpr std::size_t kBigBytes = (3U << 20) + 1000;

class PinTest : public testing::Test {
 protected:
  PinTest() {
    test::write_file(path("z.bin"), test::noise(5000, 1));
    test::write_file(path("a.bin"), big_);
    test::write_file(path("sub/b.bin"), test::noise(4096, 3));
    test::write_file(path("sub/c.txt"), "text");
    test::write_file(path("empty.bin"), "");
    test::seal_model(model_);
    mounted_ = test::mount_model(model_);
  }
  std::string path(const std::string& name) const { return model_ + "/" + name; }
  PinPlan plan(std::vector<std::string> globs, std::uint64_t limit = kNoLimit) const { return plan_pins(*mounted_.view, {std::move(globs), limit}); }
  static std::vector<std::string> paths(const PinPlan& plan) {
    std::vector<std::string> out;
    for (const PinItem& item : plan.items) out.push_back(item.path);
    return out;
  }
  // What the sink got, whether or not the fill came to its end.
  Status fill(const std::string& name, std::string& got, const CancelFlag& cancel = {}) const {
    const auto sink = [&](std::span<const std::uint8_t> bytes) -> Status {
      got.append(bytes.begin(), bytes.end());
      return {};
    };
    return fill_pinned(*mounted_.at(name), sink, cancel);
  }

  test::TempDir dir_;
  std::string model_ = dir_ / "model";
  std::string big_ = test::noise(kBigBytes, 2);
  test::Mounted mounted_;
};

// --- the plan ---------------------------------------------------------------------------------------------------------------

TEST_F(PinTest, AllFilesOfTheModelWithBytesInOrderOfTheirPaths) {
  const PinPlan all = plan({"*"});
  EXPECT_THAT(paths(all), ElementsAre("a.bin", "sub/b.bin", "sub/c.txt", "z.bin"));
  EXPECT_EQ(all.bytes, kBigBytes + 4096 + 4 + 5000);
  EXPECT_EQ(all.matching_files, 4U);
}

TEST_F(PinTest, AGlobIsHeldAgainstTheWholePath) {
  EXPECT_THAT(paths(plan({"*.bin"})), ElementsAre("a.bin", "sub/b.bin", "z.bin"));
  EXPECT_THAT(paths(plan({"sub/*"})), ElementsAre("sub/b.bin", "sub/c.txt"));
  EXPECT_THAT(paths(plan({"b.bin"})), IsEmpty());
  EXPECT_THAT(paths(plan({"[az].bin", "*.txt", "z*"})), ElementsAre("a.bin", "sub/c.txt", "z.bin"));
  EXPECT_THAT(paths(plan({})), IsEmpty());
}

TEST_F(PinTest, WhatIsMadeByTheViewIsNotPinned) { EXPECT_THAT(paths(plan({"index.json", ".vouch/*"})), IsEmpty()); }

TEST_F(PinTest, TheLimitCountsWholePagesAndASmallerFileMayFollowOneThatDoesNotFit) {
  EXPECT_THAT(paths(plan({"*"}, 4 * kBlockBytes)), ElementsAre("sub/b.bin", "sub/c.txt", "z.bin"));
  EXPECT_THAT(paths(plan({"*"}, 4 * kBlockBytes - 1)), ElementsAre("sub/b.bin", "sub/c.txt"));
  EXPECT_THAT(paths(plan({"*"}, kBlockBytes - 1)), IsEmpty());
  EXPECT_EQ(plan({"*"}, 0).matching_files, 4U);
}

TEST_F(PinTest, TwinsAreNobodysIdAndTheSameNextTime) {
  const PinPlan first = plan({"*"});
  std::set<std::uint64_t> ids;
  for (const PinItem& item : first.items) {
    EXPECT_EQ(mounted_.view->find(item.twin), nullptr);
    EXPECT_GT(item.twin, kRootId);
    ids.insert(item.twin);
  }
  EXPECT_EQ(ids.size(), 4U);
  const test::Mounted again = test::mount_model(model_);
  const PinPlan second = plan_pins(*again.view, {{"*"}, kNoLimit});
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(first.items[i].twin, second.items[i].twin);
}

// --- the outlook ------------------------------------------------------------------------------------------------------------

TEST_F(PinTest, TheOutlookSaysWhyNotAllIsPinned) {
  const auto outlook = [this](std::vector<std::string> globs, std::uint64_t limit, const std::string& obstacle = {}) {
    const PinRequest request{std::move(globs), limit};
    return pin_outlook(plan_pins(*mounted_.view, request), request, obstacle);
  };
  EXPECT_EQ(outlook({"*"}, kNoLimit).state, PinState::filling);
  EXPECT_EQ(outlook({"*"}, kNoLimit).why, "");
  EXPECT_EQ(outlook({"*"}, kNoLimit).planned_files, 4U);
  EXPECT_EQ(outlook({"*"}, 4 * kBlockBytes).state, PinState::filling);
  EXPECT_EQ(outlook({"*"}, 4 * kBlockBytes).why, "1 of 4 files does not fit into the limit of 16.0 KiB");
  EXPECT_EQ(outlook({"*"}, 1).state, PinState::off);
  EXPECT_EQ(outlook({"*"}, 1).why, "4 of 4 files do not fit into the limit of 1 B");
  EXPECT_EQ(outlook({"nothing"}, kNoLimit).state, PinState::off);
  EXPECT_THAT(outlook({"nothing"}, kNoLimit).why, HasSubstr("no file"));
  EXPECT_EQ(outlook({"*"}, kNoLimit, "no kernel").state, PinState::off);
  EXPECT_EQ(outlook({"*"}, kNoLimit, "no kernel").why, "no kernel");
  EXPECT_EQ(outlook({"*"}, kNoLimit, "no kernel").planned_bytes, 0U);
}

// --- filling ----------------------------------------------------------------------------------------------------------------

TEST_F(PinTest, FillsEveryByteOnce) {
  std::string got;
  ASSERT_TRUE(fill("a.bin", got));
  EXPECT_EQ(got, big_);
  std::string small;
  ASSERT_TRUE(fill("sub/c.txt", small));
  EXPECT_EQ(small, "text");
}

TEST_F(PinTest, StopsAtABadBlockAndReportsItAsAReadWould) {
  test::flip(path("a.bin"), (2U << 20) + 5);
  std::string got;
  const Status done = fill("a.bin", got);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::corrupt);
  EXPECT_EQ(got, big_.substr(0, got.size()));
  EXPECT_LE(got.size(), 2U << 20);
  const json event = json::parse(mounted_.runtime->events.to_json_lines(std::nullopt));
  EXPECT_EQ(event["event"], "corrupt_block");
  EXPECT_EQ(event["block"], 512);
  EXPECT_EQ(mounted_.at("a.bin")->model->known_bad_count(mounted_.at("a.bin")->file_index), 1U);
}

TEST_F(PinTest, StopsWhenItIsAskedToOrWhenTheSinkFails) {
  CancelFlag cancel;
  cancel.request();
  std::string got;
  EXPECT_EQ(fill("a.bin", got, cancel).error().code, ErrorCode::cancelled);
  EXPECT_EQ(got, "");
  std::size_t calls = 0;
  const auto full = [&](std::span<const std::uint8_t>) -> Status { return ++calls, fail(errno_error(ENOSPC, "full")); };
  EXPECT_EQ(fill_pinned(*mounted_.at("a.bin"), full, {}).error().sys_errno, ENOSPC);
  EXPECT_EQ(calls, 1U);
}

// --- progress and status ----------------------------------------------------------------------------------------------------

PinFacts four_files() {
  PinFacts facts;
  facts.state = PinState::filling;
  facts.limit_bytes = 1000;
  facts.matching_files = 4;
  facts.planned_files = 3;
  facts.planned_bytes = 900;
  facts.why = "one too many";
  return facts;
}

TEST(PinProgressTest, CountsAndKeepsTheFirstReason) {
  PinProgress progress(four_files());
  progress.fill(300);
  progress.pin(300);
  progress.fill(200);
  EXPECT_TRUE(progress.leave(200, "first"));
  EXPECT_FALSE(progress.leave(0, "second"));
  EXPECT_EQ(progress.snapshot().state, PinState::filling);
  progress.finish();
  const PinFacts facts = progress.snapshot();
  EXPECT_EQ(facts.state, PinState::done);
  EXPECT_EQ(facts.filled_bytes, 300U);
  EXPECT_EQ(facts.pinned_bytes, 300U);
  EXPECT_EQ(facts.pinned_files, 1U);
  EXPECT_EQ(facts.why, "one too many; first");
}

TEST_F(PinTest, TheStatusHasThePinOnlyWhenItWasAskedFor) {
  const auto status = [this] { return json::parse(mounted_.view->status_json(std::nullopt)); };
  const auto text = [this] { return *status_text(mounted_.view->status_json(std::nullopt)); };
  EXPECT_TRUE(status()["pin"].is_null());
  EXPECT_THAT(text(), testing::Not(HasSubstr("\n  pinned")));
  MountFacts facts;
  const auto progress = std::make_shared<PinProgress>(four_files());
  facts.pin = progress;
  mounted_.view->set_facts(facts);
  progress->fill(512);
  EXPECT_EQ(status()["pin"], json({{"state", "filling"},
                                   {"why", "one too many"},
                                   {"limit_bytes", 1000},
                                   {"matching_files", 4},
                                   {"planned_files", 3},
                                   {"planned_bytes", 900},
                                   {"filled_bytes", 512},
                                   {"pinned_files", 0},
                                   {"pinned_bytes", 0}}));
  EXPECT_THAT(text(), HasSubstr("\n  pinned     0 of 4 files, 0 B; filling, 512 B of 900 B; one too many\n"));
  progress->pin(512);
  progress->finish();
  EXPECT_THAT(text(), HasSubstr("\n  pinned     1 of 4 files, 512 B; one too many\n"));
}

TEST_F(PinTest, TheStatusSaysWhyNothingIsPinned) {
  MountFacts facts;
  PinFacts off;
  off.why = "no kernel";
  facts.pin = std::make_shared<PinProgress>(off);
  mounted_.view->set_facts(facts);
  EXPECT_EQ(json::parse(mounted_.view->status_json(std::nullopt))["pin"]["state"], "off");
  EXPECT_THAT(*status_text(mounted_.view->status_json(std::nullopt)), HasSubstr("\n  pinned     nothing: no kernel\n"));
}

}  // namespace
}  // namespace vouchfs::view
