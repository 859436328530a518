#include "publisher/place.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "unit/publisher/stores.h"

namespace vouchfs::publisher {
namespace {

using test::kCommit;
using test::kOtherCommit;
using test::Scratch;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kModel = "models--org--name";

TEST(Place, OfAFolderIsTheFolderItself) {
  const Scratch scratch;
  scratch.put("my-model/config.json", "{}");
  const auto place = resolve_place(scratch.path("my-model/"));
  ASSERT_TRUE(place) << place.error().describe();
  EXPECT_EQ(place->kind, PlaceKind::folder);
  EXPECT_EQ(place->model_dir, scratch.path("my-model"));
  EXPECT_EQ(place->name, "my-model");
  EXPECT_EQ(place->default_seal_dir, scratch.path("my-model/.vouch"));
}

TEST(Place, ThatIsAbsentOrHasNoRevisionsIsAnError) {
  const Scratch scratch;
  scratch.put("m/a", "");
  EXPECT_EQ(resolve_place(scratch.path("absent")).error().code, ErrorCode::not_found);
  EXPECT_EQ(resolve_place(scratch.path("m"), "main").error().code, ErrorCode::invalid_argument);
}

class HfPlace : public ::testing::Test {
 protected:
  void SetUp() override {
    scratch.put(kModel + "/snapshots/" + kCommit + "/config.json", "{}");
    scratch.put(kModel + "/snapshots/" + kOtherCommit + "/config.json", "{ }");
    scratch.put(kModel + "/refs/main", kCommit);
    scratch.put(kModel + "/refs/refs/pr/1", kOtherCommit + "\n");
  }
  std::string commit_of(const std::optional<std::string>& revision) const {
    const auto place = resolve_place(scratch.path(kModel), revision);
    return place ? place->revision : place.error().describe();
  }
  Scratch scratch;
};

TEST_F(HfPlace, IsTheSnapshotOfMainOfTheWantedRefOrOfTheCommit) {
  EXPECT_EQ(commit_of(std::nullopt), kCommit);
  EXPECT_EQ(commit_of("main"), kCommit);
  EXPECT_EQ(commit_of("refs/pr/1"), kOtherCommit) << "a newline behind the commit";
  EXPECT_EQ(commit_of(kOtherCommit), kOtherCommit);
  const auto place = resolve_place(scratch.path(kModel));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->kind, PlaceKind::hf_snapshot);
  EXPECT_EQ(place->name, "org--name");
  EXPECT_EQ(place->model_dir, scratch.path(kModel + "/snapshots/" + kCommit));
  EXPECT_EQ(place->default_seal_dir, place->model_dir + "/.vouch");
}

TEST_F(HfPlace, OfASnapshotFolderOrALinkToOneKnowsItsCache) {
  scratch.link("short", kModel + "/snapshots/" + kOtherCommit);
  for (const std::string& argument : {scratch.path(kModel + "/snapshots/" + kOtherCommit), scratch.path("short")}) {
    const auto place = resolve_place(argument);
    ASSERT_TRUE(place) << place.error().describe();
    EXPECT_EQ(place->kind, PlaceKind::hf_snapshot);
    EXPECT_EQ(place->model_dir, argument);
    EXPECT_EQ(place->revision, kOtherCommit);
    EXPECT_EQ(test::fs::canonical(place->cache_dir), test::fs::canonical(scratch.path(kModel)));
  }
}

TEST_F(HfPlace, ThatLacksTheRevisionSaysWhatIsThere) {
  for (const char* revision : {"v2", "refs/pr", "0000000000000000000000000000000000000000"}) {
    const auto place = resolve_place(scratch.path(kModel), revision);
    ASSERT_FALSE(place);
    EXPECT_EQ(place.error().code, ErrorCode::not_found);
    EXPECT_THAT(place.error().describe(), AllOf(HasSubstr(revision), HasSubstr("main, refs/pr/1"), HasSubstr(kCommit), HasSubstr(kOtherCommit)));
  }
  scratch.put(kModel + "/refs/main", std::string(40, '9'));
  EXPECT_THAT(commit_of(std::nullopt), AllOf(HasSubstr("names the commit 9999"), HasSubstr("no snapshot")));
}

TEST_F(HfPlace, WithoutARefIsTheOnlySnapshotThereIs) {
  test::fs::remove_all(scratch.path(kModel + "/refs"));
  EXPECT_THAT(commit_of(std::nullopt), HasSubstr("more than one snapshot"));
  test::fs::remove_all(scratch.path(kModel + "/snapshots/" + kCommit));
  EXPECT_EQ(commit_of(std::nullopt), kOtherCommit);
  test::fs::remove_all(scratch.path(kModel + "/snapshots/" + kOtherCommit));
  EXPECT_THAT(commit_of(std::nullopt), HasSubstr("no snapshot here"));
}

TEST_F(HfPlace, LetsNoRevisionOrRefLeadOutOfTheCache) {
  scratch.put("outside/config.json", "{}");
  for (const char* revision : {"../outside", "/etc/hostname", "a/../../x", "..", ""}) {
    const auto place = resolve_place(scratch.path(kModel), revision);
    ASSERT_FALSE(place) << revision;
    EXPECT_EQ(place.error().code, ErrorCode::invalid_argument) << revision;
  }
  for (const char* commit : {"../../outside", "..", "", "a/b"}) {
    scratch.put(kModel + "/refs/main", commit);
    EXPECT_EQ(resolve_place(scratch.path(kModel)).error().code, ErrorCode::bad_format) << commit;
  }
}

// --- Ollama ------------------------------------------------------------------------------------------------------------------

class OllamaPlace : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("OLLAMA_MODELS", scratch.path("store").c_str(), 1); }
  void TearDown() override { ::unsetenv("OLLAMA_MODELS"); }
  static std::string layer(const std::string& type, char digit, const std::string& name = "") {
    return "{\"mediaType\":\"application/vnd.ollama.image." + type + "\",\"digest\":\"sha256:" + std::string(64, digit) + "\",\"size\":1" +
           (name.empty() ? "" : ",\"name\":\"" + name + "\"") + "}";
  }
  void put_manifest(const std::string& path, const std::string& layers) const {
    scratch.put("store/manifests/" + path,
                "{\"schemaVersion\":2,\"config\":{\"mediaType\":\"application/vnd.docker.container.image.v1+json\",\"digest\":\"sha256:" +
                    std::string(64, 'f') + "\",\"size\":2},\"layers\":[" + layers + "]}");
  }
  static std::vector<std::string> paths_of(const Place& place) {
    std::vector<std::string> paths;
    for (const NamedFile& file : place.files) paths.push_back(file.path + " " + file.source.substr(0, 8));
    return paths;
  }
  Scratch scratch;
};

TEST_F(OllamaPlace, OfEveryFormOfANameIsFound) {
  for (const auto& [name, path] : std::vector<std::pair<std::string, std::string>>{{"llama3", "registry.ollama.ai/library/llama3/latest"},
                                                                                   {"llama3:8b", "registry.ollama.ai/library/llama3/8b"},
                                                                                   {"me/mine:v1.0", "registry.ollama.ai/me/mine/v1.0"},
                                                                                   {"hf.co/org/Model-GGUF:Q4_K_M", "hf.co/org/Model-GGUF/Q4_K_M"},
                                                                                   {"localhost:5000/a/b", "localhost:5000/a/b/latest"}}) {
    put_manifest(path, layer("model", 'a'));
    const auto place = resolve_place("ollama:" + name);
    ASSERT_TRUE(place) << place.error().describe();
    EXPECT_EQ(place->kind, PlaceKind::ollama);
    EXPECT_EQ(place->model_dir, scratch.path("store/blobs"));
    EXPECT_EQ(place->default_seal_dir, scratch.path("store/.vouch/" + path));
  }
  EXPECT_EQ(resolve_place("ollama:llama3:8b")->name, "llama3-8b");
}

TEST_F(OllamaPlace, GivesReadableNamesToLayers) {
  put_manifest("registry.ollama.ai/library/all/latest", layer("model", '1') + "," + layer("projector", '2') + "," + layer("adapter", '3') + "," +
                                                            layer("template", '4') + "," + layer("system", '5') + "," + layer("params", '6') + "," +
                                                            layer("messages", '7') + "," + layer("license", '8') + "," + layer("license", '9') + "," +
                                                            layer("model", 'a') + "," + layer("tensor", 'b', "model.layers.0.weight") + "," +
                                                            layer("json", 'c', "tokenizer.json") + "," + layer("what.is-this", 'd'));
  const auto place = resolve_place("ollama:all");
  ASSERT_TRUE(place) << place.error().describe();
  EXPECT_THAT(paths_of(*place), ::testing::ElementsAre("adapter.gguf sha256-3", "config.json sha256-f", "layer sha256-d", "license sha256-8",
                                                       "license-2 sha256-9", "messages.json sha256-7", "model-2.gguf sha256-a", "model.gguf sha256-1",
                                                       "params.json sha256-6", "projector.gguf sha256-2", "system sha256-5", "template sha256-4",
                                                       "tensors/model.layers.0.weight sha256-b", "tokenizer.json sha256-c"));
}

TEST_F(OllamaPlace, LetsNamesOfItsOwnComeBeforeMadeUpOnes) {
  put_manifest("registry.ollama.ai/library/x/latest", layer("license", '1') + "," + layer("json", '2', "config.json") + "," + layer("json", '3', "license"));
  const auto place = resolve_place("ollama:x");
  ASSERT_TRUE(place) << place.error().describe();
  EXPECT_THAT(paths_of(*place), ::testing::ElementsAre("config-2.json sha256-f", "config.json sha256-2", "license sha256-3", "license-2 sha256-1"));
}

TEST_F(OllamaPlace, TakesTheOlderFormOfABlobsNameWhenOnlyThatIsThere) {
  put_manifest("registry.ollama.ai/library/x/latest", layer("model", '1') + "," + layer("system", '2'));
  scratch.put("store/blobs/sha256:" + std::string(64, '1'), "x");
  scratch.put("store/blobs/sha256:" + std::string(64, '2'), "x");
  scratch.put("store/blobs/sha256-" + std::string(64, '2'), "x");
  EXPECT_THAT(paths_of(*resolve_place("ollama:x")), ::testing::ElementsAre("config.json sha256-f", "model.gguf sha256:1", "system sha256-2"));
}

TEST_F(OllamaPlace, RefusesLayerNamesThatAreNoPathsInsideAModel) {
  for (const std::string& name : {std::string("../../etc/cron.d/x"), std::string("/etc/passwd"), std::string("a/../../b"), std::string(".vouch/manifest.json"),
                                  std::string("a//b"), std::string("."), std::string(300, 'x'), std::string("a\\u0000b")}) {
    put_manifest("registry.ollama.ai/library/x/latest", layer("json", '1', name));
    const auto place = resolve_place("ollama:x");
    ASSERT_FALSE(place) << name;
    EXPECT_EQ(place.error().code, ErrorCode::bad_format) << name;
    EXPECT_THAT(place.error().where.file, HasSubstr("library/x/latest"));
  }
  for (const std::string& layers : {layer("json", '1', "a") + "," + layer("json", '2', "a"), layer("json", '1', "a") + "," + layer("json", '2', "a/b"),
                                    layer("json", '1', "a/b") + "," + layer("json", '2', "a")}) {
    put_manifest("registry.ollama.ai/library/x/latest", layers);
    EXPECT_EQ(resolve_place("ollama:x").error().code, ErrorCode::bad_format) << layers;
  }
}

TEST_F(OllamaPlace, RefusesNamesThatAreNone) {
  for (const char* name : {"", ":8b", "a:", "../x", "a/b/c/d", "a b", "/abs", "a/../b", "-x", "a:../../x", "http://x/a/b"})
    EXPECT_EQ(resolve_place(std::string("ollama:") + name).error().code, ErrorCode::invalid_argument) << name;
  put_manifest("registry.ollama.ai/library/x/latest", "");
  EXPECT_EQ(resolve_place("ollama:x", "main").error().code, ErrorCode::invalid_argument);
}

TEST_F(OllamaPlace, ThatIsAbsentSaysWhatTheStoreHolds) {
  put_manifest("registry.ollama.ai/library/llama3/8b", layer("model", 'a'));
  put_manifest("hf.co/org/m/latest", layer("model", 'a'));
  const auto place = resolve_place("ollama:llama3");
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error().code, ErrorCode::not_found);
  EXPECT_THAT(place.error().describe(), AllOf(HasSubstr("llama3:8b"), HasSubstr("hf.co/org/m:latest"), HasSubstr("OLLAMA_MODELS")));
}

TEST_F(OllamaPlace, WithAnEmptyOrCutManifestIsAnErrorThatNamesIt) {
  for (const char* text : {"", "{\"schemaVersion\":2,\"lay"}) {
    scratch.put("store/manifests/registry.ollama.ai/library/x/latest", text);
    const auto place = resolve_place("ollama:x");
    ASSERT_FALSE(place);
    EXPECT_EQ(place.error().code, ErrorCode::bad_format);
    EXPECT_THAT(place.error().describe(), AllOf(HasSubstr("library/x/latest"), HasSubstr("pull the model again")));
    EXPECT_TRUE(locate_place("ollama:x")) << "who reads the seal alone needs no manifest";
  }
}

TEST_F(OllamaPlace, IsLookedUpInTheHomeFolderWhenNoStoreIsNamed) {
  const std::string home = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "";
  ::unsetenv("OLLAMA_MODELS");
  ::setenv("HOME", scratch.path("home").c_str(), 1);
  scratch.put("home/.ollama/models/manifests/registry.ollama.ai/library/x/latest", "{\"schemaVersion\":2,\"layers\":[]}");
  const auto place = resolve_place("ollama:x");
  const auto absent = resolve_place("ollama:y");
  ::setenv("HOME", home.c_str(), 1);
  ASSERT_TRUE(place) << place.error().describe();
  EXPECT_EQ(place->store_dir, scratch.path("home/.ollama/models"));
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().describe(), HasSubstr("/usr/share/ollama/.ollama/models"));
}

}  // namespace
}  // namespace vouchfs::publisher
