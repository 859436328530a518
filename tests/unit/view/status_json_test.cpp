#include "view/status_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "unit/view/test_model.h"
#include "view/status_text.h"

namespace vouchfs::view {
namespace {

using nlohmann::json;
using test::TempDir;
using testing::HasSubstr;

class StatusJsonTest : public testing::Test {
 protected:
  StatusJsonTest() {
    test::write_file(path("w.safetensors"), test::safetensors({{"t", 20000}}));
    test::write_file(path("config.json"), test::noise(3000, 1));
    test::seal_model(model_);
    mounted_ = test::mount_model(model_);
  }
  std::string path(const std::string& name) const { return model_ + "/" + name; }
  json status() const { return json::parse(mounted_.view->status_json(std::nullopt)); }
  void damage_and_read(const std::string& name, std::uint64_t offset) const {
    test::flip(path(name), offset);
    EXPECT_FALSE(mounted_.readable(name));
  }

  TempDir dir_;
  std::string model_ = dir_ / "model";
  test::Mounted mounted_;
};

TEST_F(StatusJsonTest, HasEveryKeyFromTheStart) {
  const json got = status();
  for (const char* key : {"mount_point", "models", "bytes_served", "bytes_verified", "cache_hit_ratio", "repairs", "readahead_kb", "restarts", "sources",
                          "scrub", "versions", "supervisor_pid", "worker_pid", "counters"})
    EXPECT_TRUE(got.contains(key)) << key;
  EXPECT_TRUE(got["cache_hit_ratio"].is_null()) << "nothing was looked up yet";
  EXPECT_TRUE(got["scrub"].is_null());
  const json model = got["models"].at(0);
  EXPECT_EQ(model["name"], "model");
  EXPECT_EQ(model["digest"], hash::to_text(mounted_.view->models()[0]->seal().model_digest));
  EXPECT_EQ(model["trust"], "as-mounted");
  EXPECT_EQ(model["source"], model_);
  EXPECT_EQ(model["seal"], model_ + "/.vouch");
  EXPECT_EQ(model["files"], 2);
  EXPECT_EQ(model["known_bad"], json::array());
  EXPECT_EQ(model["known_bad_total"], 0);
  EXPECT_EQ(got["sources"], json({{{"name", "model"}, {"model", "model"}, {"path", model_}}}));
}

TEST_F(StatusJsonTest, AWeightFileIsAShardAnotherFileOnlyWhenItIsBad) {
  const auto shards = status()["models"][0]["shards"];
  ASSERT_EQ(shards.size(), 1U);
  EXPECT_EQ(shards[0]["path"], "w.safetensors");
  EXPECT_EQ(shards[0]["state"], "ok");
  damage_and_read("config.json", 100);
  const auto now = status()["models"][0]["shards"];
  ASSERT_EQ(now.size(), 2U);
  EXPECT_EQ(now[0]["path"], "config.json");
  EXPECT_EQ(now[0]["state"], "bad");
  EXPECT_EQ(now[1]["state"], "ok");
}

TEST_F(StatusJsonTest, NamesKnownBadBlocksWithTheirTensors) {
  damage_and_read("w.safetensors", 9000);
  const json model = status()["models"][0];
  EXPECT_EQ(model["known_bad"], json({{{"file", "w.safetensors"}, {"block", 2}, {"tensors", {"t"}}}}));
  EXPECT_EQ(model["known_bad_total"], 1);
  EXPECT_EQ(model["shards"][0]["known_bad_blocks"], 1);
  EXPECT_EQ(status()["counters"]["corrupt_blocks"], 1);
  EXPECT_EQ(status()["counters"]["failed_reads"], 1);
}

TEST_F(StatusJsonTest, ListsAThousandKnownBadBlocksAndCountsAll) {
  const std::string large = dir_ / "large";
  test::write_file(large + "/x", test::noise(1100 * 4096, 1));
  test::seal_model(large);
  test::write_file(large + "/x", test::noise(1100 * 4096, 2));
  const auto mounted = test::mount_model(large);
  EXPECT_FALSE(mounted.readable("x"));
  const json model = json::parse(mounted.view->status_json(std::nullopt))["models"][0];
  EXPECT_EQ(model["known_bad"].size(), kMostKnownBad);
  EXPECT_EQ(model["known_bad_total"], 1100);
}

TEST_F(StatusJsonTest, CountsBytesAndHits) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(mounted_.bytes("w.safetensors").size(), test::read_file(path("w.safetensors")).size());
  const json got = status();
  const std::uint64_t size = test::read_file(path("w.safetensors")).size();
  EXPECT_EQ(got["bytes_served"], 4 * size);
  EXPECT_GE(got["bytes_verified"].get<std::uint64_t>(), 4 * size);
  EXPECT_GT(got["cache_hit_ratio"].get<double>(), 0.5);
  EXPECT_LT(got["cache_hit_ratio"].get<double>(), 1.0) << "the first look cannot be a hit";
}

TEST_F(StatusJsonTest, CarriesTheFactsOfTheMount) {
  MountFacts facts;
  facts.mount_point = "/mnt/x";
  facts.readahead_kb = 8192;
  facts.worker_pid = 4711;
  facts.version = "1.2.3";
  facts.libfuse_version = "3.14.0";
  mounted_.view->set_facts(facts);
  const json got = status();
  EXPECT_EQ(got["mount_point"], "/mnt/x");
  EXPECT_EQ(got["readahead_kb"], 8192);
  EXPECT_EQ(got["worker_pid"], 4711);
  EXPECT_TRUE(got["supervisor_pid"].is_null()) << "there is none";
  EXPECT_EQ(got["versions"], json({{"vouchfs", "1.2.3"}, {"libfuse", "3.14.0"}, {"hash", test::engine()->name()}}));
}

TEST_F(StatusJsonTest, SaysPinnedWhenADigestWasGiven) {
  Runtime runtime(test::engine());
  ModelOptions options;
  options.model_dir = model_;
  options.digest = mounted_.view->models()[0]->seal().model_digest;
  auto model = SealedModel::open(options, runtime);
  ASSERT_TRUE(model);
  const auto view = MountView::of_model(std::move(*model), runtime);
  ASSERT_TRUE(view);
  EXPECT_EQ(json::parse((*view)->status_json(std::nullopt))["models"][0]["trust"], "pinned");
}

TEST_F(StatusJsonTest, OnlyTheModelThatWasAskedFor) {
  EXPECT_EQ(json::parse(mounted_.view->status_json("model"))["models"].size(), 1U);
  EXPECT_EQ(json::parse(mounted_.view->status_json("other"))["models"].size(), 0U);
}

TEST_F(StatusJsonTest, TheHumanTextTellsTheSame) {
  damage_and_read("w.safetensors", 9000);
  const auto text = status_text(mounted_.view->status_json(std::nullopt));
  ASSERT_TRUE(text);
  for (const std::string& fact : {std::string("bad  w.safetensors, 1 known-bad block"), std::string("w.safetensors, block 2"), std::string("tensors t"),
                                  hash::to_text(mounted_.view->models()[0]->seal().model_digest)})
    EXPECT_THAT(*text, HasSubstr(fact));
}

}  // namespace
}  // namespace vouchfs::view
