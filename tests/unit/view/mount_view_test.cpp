#include "view/mount_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "unit/view/test_model.h"

namespace vouchfs::view {
namespace {

using nlohmann::json;
using test::mount_model;
using test::Mounted;
using test::publisher_index;
using test::safetensors;
using test::TempDir;
using test::write_file;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kIndex = "model.safetensors.index.json";

const std::vector<std::string> kOwn = {".vouch/",   ".vouch/digest", ".vouch/events.jsonl", ".vouch/manifest.json", ".vouch/status.json", ".vouch/tensors.json",
                                       "index.json"};

std::vector<std::string> with_own(std::vector<std::string> paths) {
  paths.insert(paths.end(), kOwn.begin(), kOwn.end());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string shard_name(int number, int count) {
  std::array<char, 64> name{};
  std::snprintf(name.data(), name.size(), "model-%05d-of-%05d.safetensors", number, count);
  return name.data();
}

// Three shards with two tensors each: layer.N.a (100 bytes) and layer.N.b (200 + N).
std::map<std::string, std::string> write_three_shards(const std::string& dir) {
  std::map<std::string, std::string> weights;
  for (int i = 0; i < 3; ++i) {
    const std::string layer = "layer." + std::to_string(i);
    write_file(dir + "/" + shard_name(i + 1, 3), safetensors({{layer + ".a", 100}, {layer + ".b", 200U + static_cast<unsigned>(i)}}, static_cast<unsigned>(i)));
    weights[layer + ".a"] = weights[layer + ".b"] = shard_name(i + 1, 3);
  }
  return weights;
}
constexpr std::uint64_t kThreeShardBytes = 3 * 300 + 0 + 1 + 2;

std::vector<json> events_of(const Mounted& mounted, const std::string& kind) {
  std::vector<json> out;
  std::istringstream lines(mounted.bytes(".vouch/events.jsonl"));
  for (std::string line; std::getline(lines, line);)
    if (const json event = json::parse(line); event["event"] == kind) out.push_back(event);
  return out;
}

// What `fsverity digest` says of these bytes.
std::string fsverity_of(const TempDir& dir, const std::string& bytes) {
  write_file(dir / "oracle", bytes);
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(("fsverity digest --compact '" + (dir / "oracle") + "'").c_str(), "r"), pclose);
  std::array<char, 128> line{};
  if (!pipe || std::fgets(line.data(), line.size(), pipe.get()) == nullptr) return "fsverity did not run";
  return "sha256:" + std::string(line.data(), 64);
}

class MountViewTest : public testing::Test {
 protected:
  TempDir dir_;
  std::string model_ = dir_ / "model";

  void put(const std::string& path, const std::string& bytes) const { write_file(model_ + "/" + path, bytes); }
  Mounted mounted() const {
    test::seal_model(model_);
    return mount_model(model_);
  }
};

// --- names ------------------------------------------------------------------------------------------------------------------

TEST_F(MountViewTest, ShowsEveryFileWithItsBytesAndTheFilesOfItsOwn) {
  put("model.safetensors", safetensors({{"w", 5000}}));
  put("config.json", "{}");
  put("empty", "");
  put("sub/deep/x.txt", "x");
  const Mounted view = mounted();
  EXPECT_EQ(view.paths(), with_own({"config.json", "empty", "model.safetensors", "sub/", "sub/deep/", "sub/deep/x.txt"}));
  for (const char* path : {"config.json", "empty", "model.safetensors", "sub/deep/x.txt"}) {
    EXPECT_EQ(view.bytes(path), test::read_file(model_ + "/" + path)) << path;
    EXPECT_EQ(view.at(path)->bytes, std::filesystem::file_size(model_ + "/" + path)) << path;
    EXPECT_EQ(view.at(path)->kind, NodeKind::sealed_file) << path;
  }
}

TEST_F(MountViewTest, ItsOwnFolderHoldsTheSealAsItIs) {
  put("model.safetensors", safetensors({{"w", 50}}));
  const Mounted view = mounted();
  EXPECT_EQ(view.bytes(".vouch/manifest.json"), test::read_file(model_ + "/.vouch/manifest.json"));
  const auto& manifest = view.view->models()[0]->seal().manifest;
  EXPECT_EQ(view.bytes(".vouch/tensors.json"), test::read_file(model_ + "/.vouch/" + seal::table_path(manifest.tensors_fsverity)));
  EXPECT_EQ(view.bytes(".vouch/digest"), fsverity_of(dir_, view.bytes(".vouch/manifest.json")) + "\n");
}

TEST_F(MountViewTest, IdsAreTheSameForTheSameContentElsewhereAndAllDifferent) {
  write_three_shards(model_);
  put("sub/x", "x");
  const Mounted here = mounted();
  std::filesystem::copy(model_, dir_ / "copy", std::filesystem::copy_options::recursive);
  const Mounted there = mount_model(dir_ / "copy");
  std::set<std::uint64_t> ids = {kRootId};
  for (std::string path : here.paths()) {
    if (path.back() == '/') path.pop_back();
    ASSERT_NE(there.at(path), nullptr) << path;
    EXPECT_EQ(here.at(path)->id, there.at(path)->id) << path;
    EXPECT_TRUE(ids.insert(here.at(path)->id).second) << path;
  }
  EXPECT_EQ(ids.size(), here.view->node_count());
}

TEST_F(MountViewTest, AnotherModelHasOtherIds) {
  put("x", "one");
  const std::uint64_t before = mounted().at("x")->id;
  put("x", "two");
  EXPECT_NE(mounted().at("x")->id, before);
}

TEST_F(MountViewTest, TimesAreThoseOfTheSealNotOfTheModelsFiles) {
  put("x", "x");
  test::seal_model(model_);
  const std::array<timeval, 2> then = {timeval{1000000, 0}, timeval{1234567, 0}};
  ASSERT_EQ(utimes((model_ + "/.vouch/manifest.json").c_str(), then.data()), 0);
  const Mounted view = mount_model(model_);
  for (const char* path : {"", "x", "index.json", ".vouch", ".vouch/status.json"}) EXPECT_EQ(view.at(path)->mtime_seconds, 1234567) << path;
}

// --- digests and attributes -------------------------------------------------------------------------------------------------

TEST_F(MountViewTest, EveryFileButTheLiveOnesHasTheDigestThatFsverityGivesIt) {
  write_three_shards(model_);
  put("large.bin", test::noise(600000, 3));
  put("empty", "");
  const Mounted view = mounted();
  std::size_t checked = 0;
  for (const std::string& path : view.paths()) {
    if (path.back() == '/' || view.at(path)->kind == NodeKind::live_file) continue;
    const Node& node = *view.at(path);
    EXPECT_EQ(view.view->attribute(node, "user.vouch.fsverity"), fsverity_of(dir_, view.bytes(path))) << path;
    EXPECT_EQ(view.view->attribute(node, "user.vouch.sha256"), hash::to_hex(hash::sha256(view.bytes(path)))) << path;
    EXPECT_EQ(view.view->attribute(node, "user.vouch.state"), "ok") << path;
    EXPECT_EQ(view.view->attribute(node, "user.vouch.model"), hash::to_text(node.model->seal().model_digest)) << path;
    EXPECT_EQ(node.bytes, view.bytes(path).size()) << path;
    ++checked;
  }
  EXPECT_EQ(checked, 10U) << "three shards, two others, two indexes, three of .vouch";
}

TEST_F(MountViewTest, LiveFilesAndFoldersHaveNoDigestButAModel) {
  put("x", "x");
  const Mounted view = mounted();
  for (const char* path : {"", ".vouch", ".vouch/status.json", ".vouch/events.jsonl"})
    EXPECT_THAT(view.view->attribute_names(*view.at(path)), ElementsAre("user.vouch.model")) << path;
  EXPECT_EQ(view.view->attribute_names(*view.at("x")).size(), 4U);
  for (const char* name : {"user.other", "user.vouch.", "user.vouch.other", "security.capability", "fsverity"})
    EXPECT_EQ(view.view->attribute(*view.at("x"), name), std::nullopt) << name;
}

TEST_F(MountViewTest, StateTurnsBadWithTheFirstBadBlockAndBackWhenItReadsRight) {
  put("x", test::noise(20000, 1));
  put("y", "y");
  const Mounted view = mounted();
  test::flip(model_ + "/x", 5000);
  EXPECT_FALSE(view.readable("x"));
  EXPECT_EQ(view.view->attribute(*view.at("x"), "user.vouch.state"), "bad");
  EXPECT_EQ(view.view->attribute(*view.at("y"), "user.vouch.state"), "ok");
  test::flip(model_ + "/x", 5000);
  EXPECT_TRUE(test::eventually([&] { return view.readable("x"); }));
  EXPECT_EQ(view.bytes("x"), test::read_file(model_ + "/x"));
  EXPECT_EQ(view.view->attribute(*view.at("x"), "user.vouch.state"), "ok");
}

// --- indexes ----------------------------------------------------------------------------------------------------------------

TEST_F(MountViewTest, OneCompleteFileGetsNoShardIndex) {
  put("model.safetensors", safetensors({{"w", 50}}));
  EXPECT_EQ(mounted().paths(), with_own({"model.safetensors"}));
}

TEST_F(MountViewTest, AModelWithoutWeightsGetsAnEmptyRootIndexOnly) {
  put("README.md", "no weights");
  const Mounted view = mounted();
  EXPECT_EQ(view.paths(), with_own({"README.md"}));
  EXPECT_EQ(json::parse(view.bytes("index.json"))["weight_map"], json::object());
}

TEST_F(MountViewTest, ShardsWithoutAnIndexGetOne) {
  const auto weights = write_three_shards(model_);
  const Mounted view = mounted();
  EXPECT_EQ(view.paths(), with_own({kIndex, shard_name(1, 3), shard_name(2, 3), shard_name(3, 3)}));
  const json index = json::parse(view.bytes(kIndex));
  EXPECT_EQ(index, json({{"metadata", {{"total_size", kThreeShardBytes}}}, {"weight_map", weights}}));
  EXPECT_EQ(json::parse(view.bytes("index.json"))["weight_map"], json(weights));
  EXPECT_TRUE(events_of(view, "index_corrected").empty());
}

TEST_F(MountViewTest, ARightIndexIsServedUntouched) {
  const auto weights = write_three_shards(model_);
  put(kIndex, publisher_index(weights, kThreeShardBytes));
  const Mounted view = mounted();
  EXPECT_EQ(view.paths(), with_own({kIndex, shard_name(1, 3), shard_name(2, 3), shard_name(3, 3)}));
  EXPECT_EQ(view.at(kIndex)->kind, NodeKind::sealed_file);
  EXPECT_EQ(view.bytes(kIndex), test::read_file(model_ + "/" + kIndex));
  EXPECT_TRUE(events_of(view, "index_corrected").empty());
}

TEST_F(MountViewTest, AnUnreadableIndexBesideAMissingShardIsNotReplacedByOneThatHidesIt) {
  write_three_shards(model_);
  put(kIndex, "<html>");
  std::filesystem::remove(model_ + "/" + shard_name(2, 3));
  const Mounted view = mounted();
  EXPECT_EQ(view.paths(), with_own({kIndex, shard_name(1, 3), shard_name(3, 3)}));
  EXPECT_EQ(view.bytes(kIndex), "<html>");
  EXPECT_TRUE(events_of(view, "index_corrected").empty());
  ASSERT_EQ(events_of(view, "index_wrong").size(), 1U);
}

TEST_F(MountViewTest, AnIndexThatNamesShardsBelowItsFolderIsRight) {
  put("sub/b.safetensors", safetensors({{"b", 50}}));
  put("a.safetensors", safetensors({{"a", 60}}));
  put(kIndex, publisher_index({{"a", "a.safetensors"}, {"b", "sub/b.safetensors"}}, 110));
  const Mounted view = mounted();
  EXPECT_EQ(view.bytes(kIndex), test::read_file(model_ + "/" + kIndex));
  EXPECT_TRUE(events_of(view, "index_corrected").empty());
  EXPECT_EQ(json::parse(view.bytes("index.json"))["metadata"]["vouchfs"]["missing_files"], json::array());
}

TEST_F(MountViewTest, AWrongIndexIsCorrectedKeptAndTold) {
  const auto weights = write_three_shards(model_);
  auto wrong = weights;
  wrong.erase("layer.1.a");
  wrong["layer.0.b"] = shard_name(3, 3);
  wrong["nowhere"] = shard_name(1, 3);
  put(kIndex, publisher_index(wrong, kThreeShardBytes));
  const Mounted view = mounted();
  EXPECT_EQ(view.paths(), with_own({kIndex, std::string(kIndex) + ".orig", shard_name(1, 3), shard_name(2, 3), shard_name(3, 3)}));
  EXPECT_EQ(view.bytes(std::string(kIndex) + ".orig"), test::read_file(model_ + "/" + kIndex));
  EXPECT_EQ(json::parse(view.bytes(kIndex)), json({{"metadata", {{"total_size", kThreeShardBytes}, {"who", "publisher"}}}, {"weight_map", weights}}));
  const auto events = events_of(view, "index_corrected");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]["file"], kIndex);
  EXPECT_EQ(events[0]["tensors"], json({"layer.0.b", "layer.1.a", "nowhere"}));
  EXPECT_EQ(events[0]["changes"], json({"layer.0.b: was '" + shard_name(3, 3) + "', is '" + shard_name(1, 3) + "'",
                                        "layer.1.a: was nothing, is '" + shard_name(2, 3) + "'", "nowhere: was '" + shard_name(1, 3) + "', is nothing"}));
}

TEST_F(MountViewTest, AMissingShardStaysVisibleAsMissing) {
  const auto weights = write_three_shards(model_);
  put(kIndex, publisher_index(weights, kThreeShardBytes));
  std::filesystem::remove(model_ + "/" + shard_name(2, 3));
  const Mounted view = mounted();
  EXPECT_EQ(view.at(shard_name(2, 3)), nullptr);
  EXPECT_EQ(json::parse(view.bytes(kIndex))["weight_map"], json(weights));
  const json root = json::parse(view.bytes("index.json"));
  EXPECT_EQ(root["weight_map"], json(weights));
  EXPECT_EQ(root["metadata"]["vouchfs"]["missing_files"], json({shard_name(2, 3)}));
}

TEST_F(MountViewTest, AShardMissingByNumberGetsNoIndexThatLooksComplete) {
  write_three_shards(model_);
  std::filesystem::remove(model_ + "/" + shard_name(2, 3));
  const Mounted view = mounted();
  EXPECT_EQ(view.at(kIndex), nullptr);
  const json root = json::parse(view.bytes("index.json"));
  EXPECT_EQ(root["weight_map"].size(), 4U);
  EXPECT_EQ(root["metadata"]["vouchfs"]["missing_files"], json({shard_name(2, 3)}));
}

TEST_F(MountViewTest, NestedFoldersGetTheirFamilysIndexAndTheRootCoversThem) {
  put("model_index.json", "{}");
  put("unet/diffusion_pytorch_model-00001-of-00002.safetensors", safetensors({{"down", 10}}));
  put("unet/diffusion_pytorch_model-00002-of-00002.safetensors", safetensors({{"up", 20}}));
  put("text_encoder/model.safetensors", safetensors({{"embed", 30}}));
  put("text_encoder_2/model.safetensors", safetensors({{"embed", 40}}));
  const Mounted view = mounted();
  const json unet = json::parse(view.bytes("unet/diffusion_pytorch_model.safetensors.index.json"));
  EXPECT_EQ(unet["weight_map"],
            json({{"down", "diffusion_pytorch_model-00001-of-00002.safetensors"}, {"up", "diffusion_pytorch_model-00002-of-00002.safetensors"}}));
  EXPECT_EQ(unet["metadata"]["total_size"], 30);
  for (const std::string& path : view.paths()) EXPECT_FALSE(path.starts_with("text_encoder") && path.ends_with("index.json")) << path;
  EXPECT_EQ(view.at("unet/index.json"), nullptr);
  const json root = json::parse(view.bytes("index.json"));
  EXPECT_EQ(root["weight_map"], json({{"down", "unet/diffusion_pytorch_model-00001-of-00002.safetensors"},
                                      {"up", "unet/diffusion_pytorch_model-00002-of-00002.safetensors"},
                                      {"embed", "text_encoder/model.safetensors"}}));
  EXPECT_EQ(root["metadata"]["vouchfs"]["ambiguous"], json({{"embed", {"text_encoder/model.safetensors", "text_encoder_2/model.safetensors"}}}));
  EXPECT_EQ(root["metadata"]["total_size"], 100);
}

TEST_F(MountViewTest, OddNamesComeThrough) {
  const std::string name = "\xe4\xb8\xad \"q\\";
  put("\xc3\xa9 x.safetensors", safetensors({{name, 3}, {"scalarless", 0}}));
  const Mounted view = mounted();
  EXPECT_EQ(json::parse(view.bytes("index.json"))["weight_map"][name], "\xc3\xa9 x.safetensors");
  EXPECT_NE(view.at("\xc3\xa9 x.safetensors"), nullptr);
}

TEST_F(MountViewTest, IndexBytesAreTheSameForTheSameContentElsewhere) {
  write_three_shards(model_);
  write_three_shards(dir_ / "elsewhere/under/another/name");
  test::seal_model(dir_ / "elsewhere/under/another/name");
  const Mounted here = mounted();
  const Mounted there = mount_model(dir_ / "elsewhere/under/another/name");
  EXPECT_EQ(here.bytes("index.json"), there.bytes("index.json"));
  EXPECT_EQ(here.bytes(kIndex), there.bytes(kIndex));
}

TEST_F(MountViewTest, AModelsOwnRootIndexIsShownAsOrig) {
  put("index.json", "the publisher's page");
  put("sub/index.json", "another");
  const Mounted view = mounted();
  EXPECT_EQ(view.bytes("index.json.orig"), "the publisher's page");
  EXPECT_TRUE(json::parse(view.bytes("index.json")).contains("weight_map"));
  EXPECT_EQ(view.bytes("sub/index.json"), "another");
}

// --- clashes ----------------------------------------------------------------------------------------------------------------

TEST_F(MountViewTest, TwoFilesThatNeedOneNameRefuseTheMountAndAreBothNamed) {
  test::seal_by_hand(model_, {{"index.json", "a"}, {"index.json.orig", "b"}}, {});
  Runtime runtime(test::engine());
  const auto view = test::try_mount(model_, runtime);
  ASSERT_FALSE(view);
  EXPECT_THAT(view.error().describe(), AllOf(HasSubstr("'index.json'"), HasSubstr("'index.json.orig'")));
}

TEST_F(MountViewTest, ASealedFileUnderASynthesizedNameRefusesTheMount) {
  // Ingest leaves .vouch out; the seal of another tool may name what lies there.
  for (const char* path : {".vouch/digest", ".vouch/status.json/x"}) {
    const std::string model = dir_ / std::to_string(std::string_view(path).size());
    test::seal_by_hand(model, {{path, "a"}}, {});
    Runtime runtime(test::engine());
    const auto view = test::try_mount(model, runtime);
    ASSERT_FALSE(view) << path;
    EXPECT_THAT(view.error().describe(), AllOf(HasSubstr(path), HasSubstr("the synthesized file")));
  }
}

// --- stores -----------------------------------------------------------------------------------------------------------------

class StoreTest : public testing::Test {
 protected:
  TempDir dir_;
  Runtime runtime_{test::engine()};

  std::unique_ptr<SealedModel> model(const std::string& name, const std::string& content) {
    write_file(dir_ / (name + "/x"), content);
    test::seal_model(dir_ / name);
    ModelOptions options;
    options.model_dir = dir_ / name;
    auto opened = SealedModel::open(options, runtime_);
    EXPECT_TRUE(opened);
    return std::move(*opened);
  }
  Result<std::unique_ptr<MountView>> store(std::vector<std::unique_ptr<SealedModel>> models) { return MountView::of_store(std::move(models), runtime_); }
};

TEST_F(StoreTest, ShowsEveryModelUnderItsNameAndListsThem) {
  std::vector<std::unique_ptr<SealedModel>> models;
  for (const char* name : {"gamma", "alpha", "beta"}) models.push_back(model(name, name));
  const auto view = store(std::move(models));
  ASSERT_TRUE(view);
  std::vector<std::string> names;
  for (const std::uint64_t id : (*view)->find(kRootId)->children) names.push_back((*view)->find(id)->name);
  EXPECT_THAT(names, ElementsAre(".vouch", "alpha", "beta", "gamma", "index.json"));
  const json list = json::parse((*view)->lookup(kRootId, "index.json")->content);
  ASSERT_EQ(list["models"].size(), 3U);
  EXPECT_EQ(list["models"][0], json({{"name", "alpha"}, {"digest", hash::to_text((*view)->models()[0]->seal().model_digest)}, {"files", 1}, {"bytes", 5}}));
  EXPECT_EQ(list["models"][1]["name"], "beta");
  EXPECT_EQ(list["models"][2]["name"], "gamma");
}

TEST_F(StoreTest, TheStoreIsAsYoungAsItsYoungestModel) {
  std::vector<std::unique_ptr<SealedModel>> models;
  for (const char* name : {"a", "b", "c"}) models.push_back(model(name, name));
  for (const auto& [name, seconds] : {std::pair{"a", 2000000}, {"b", 3000000}, {"c", 1000000}}) {
    const std::array<timeval, 2> then = {timeval{0, 0}, timeval{seconds, 0}};
    ASSERT_EQ(utimes((dir_ / (std::string(name) + "/.vouch/manifest.json")).c_str(), then.data()), 0);
  }
  const auto view = store(std::move(models));
  ASSERT_TRUE(view);
  EXPECT_EQ((*view)->find(kRootId)->mtime_seconds, 3000000);
  EXPECT_EQ((*view)->lookup(kRootId, "index.json")->mtime_seconds, 3000000);
  EXPECT_EQ((*view)->lookup(kRootId, "a")->mtime_seconds, 2000000);
  EXPECT_EQ((*view)->lookup((*view)->lookup(kRootId, "c")->id, "x")->mtime_seconds, 1000000);
}

TEST_F(StoreTest, TwoModelsOfTheSameContentHaveIdsOfTheirOwn) {
  std::vector<std::unique_ptr<SealedModel>> models;
  for (const char* name : {"a", "b"}) models.push_back(model(name, "the same"));
  const auto view = store(std::move(models));
  ASSERT_TRUE(view);
  const Node* a = (*view)->lookup(kRootId, "a");
  const Node* b = (*view)->lookup(kRootId, "b");
  EXPECT_NE((*view)->lookup(a->id, "x")->id, (*view)->lookup(b->id, "x")->id);
  EXPECT_EQ((*view)->lookup(a->id, "x")->model->name(), "a");
}

TEST_F(StoreTest, StatusAndEventsOfAModelAreItsOwnThoseOfTheStoreAreAll) {
  std::vector<std::unique_ptr<SealedModel>> models;
  for (const char* name : {"a", "b"}) models.push_back(model(name, name));
  const auto view = store(std::move(models));
  ASSERT_TRUE(view);
  observe::Event event;
  event.event = "corrupt_block";
  event.model = "b";
  runtime_.events.record(event);
  const auto live = [&](const Node* folder, const char* name) {
    return (*view)->live_content(*(*view)->lookup((*view)->lookup(folder->id, ".vouch")->id, name));
  };
  const Node* root = (*view)->find(kRootId);
  const Node* a = (*view)->lookup(kRootId, "a");
  EXPECT_EQ(json::parse(live(root, "status.json"))["models"].size(), 2U);
  EXPECT_EQ(json::parse(live(a, "status.json"))["models"].size(), 1U);
  EXPECT_EQ(json::parse(live(a, "status.json"))["models"][0]["name"], "a");
  EXPECT_THAT(live(root, "events.jsonl"), HasSubstr("\"b\""));
  EXPECT_EQ(live(a, "events.jsonl"), "");
  EXPECT_EQ((*view)->attribute(*root, "user.vouch.model"), std::nullopt);
  EXPECT_THAT((*view)->attribute_names(*(*view)->lookup(kRootId, "index.json")), Not(Contains("user.vouch.model")));
}

TEST_F(StoreTest, AModelCannotTakeAStoresOwnNameOrAnothersName) {
  for (const char* name : {"index.json", ".vouch-less"}) {
    std::vector<std::unique_ptr<SealedModel>> models;
    models.push_back(model(name, "x"));
    EXPECT_EQ(static_cast<bool>(store(std::move(models))), std::string(name) != "index.json") << name;
  }
  std::vector<std::unique_ptr<SealedModel>> twice;
  twice.push_back(model("a", "x"));
  twice.push_back(model("a", "x"));
  const auto view = store(std::move(twice));
  ASSERT_FALSE(view);
  EXPECT_THAT(view.error().describe(), HasSubstr("the model 'a' and the model 'a'"));
}

TEST_F(StoreTest, AnEmptyStoreIsShownAsEmpty) {
  const auto view = store({});
  ASSERT_TRUE(view);
  EXPECT_EQ(json::parse((*view)->lookup(kRootId, "index.json")->content), json({{"models", json::array()}}));
}

}  // namespace
}  // namespace vouchfs::view
