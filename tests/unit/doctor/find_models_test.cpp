// What a path means to doctor.
#include "unit/doctor/sample_facts.h"

namespace vouchfs::doctor {
namespace {

using namespace test;
using ::testing::ElementsAre;

class FindModels : public testing::Test {
 protected:
  // The folders of the models found, relative to the scratch folder.
  std::vector<std::string> models(const std::string& below = "", const std::optional<std::string>& revision = std::nullopt) const {
    auto places = find_models(folder_.path(below), revision);
    if (!places) return {to_string(places.error().code)};
    std::vector<std::string> names;
    for (const publisher::Place& place : *places) names.push_back(stdfs::path(place.model_dir).lexically_relative(folder_.path()).string());
    return names;
  }
  ScratchFolder folder_;
  const std::string one_ = std::string(40, '1');
  const std::string two_ = std::string(40, '2');
};

TEST_F(FindModels, AFolderWithWeightsIsOneModelWhateverLiesBelow) {
  folder_.put("model.safetensors");
  folder_.put("sub/model.safetensors");
  EXPECT_THAT(models(), ElementsAre("."));
}

TEST_F(FindModels, ADiffusersFolderIsOneModel) {
  folder_.put("model_index.json");
  folder_.put("unet/config.json");
  folder_.put("vae/config.json");
  EXPECT_THAT(models(), ElementsAre("."));
}

TEST_F(FindModels, AFolderOfModelFoldersIsEachOfThem) {
  folder_.put("README.md");
  folder_.put("a/config.json");
  folder_.put("b/model.gguf");
  folder_.put("org/c/model.safetensors");
  folder_.put("notes/readme.txt");
  folder_.put(".trash/d/config.json");
  EXPECT_THAT(models(), ElementsAre("a", "b", "org/c"));
}

TEST_F(FindModels, AnEmptyFolderIsOneModelSoThatItsEmptinessIsSaid) { EXPECT_THAT(models(), ElementsAre(".")); }

TEST_F(FindModels, AStoreOfSealedModelsIsEachOfThem) {
  folder_.put("a/.vouch/manifest.json");
  folder_.put("b/.vouch/manifest.json");
  EXPECT_THAT(models(), ElementsAre("a", "b"));
}

TEST_F(FindModels, ACacheFolderIsEverySnapshotOrTheOneNamed) {
  folder_.put("models--org--name/snapshots/" + one_ + "/config.json");
  folder_.put("models--org--name/snapshots/" + two_ + "/config.json");
  folder_.put("models--org--name/refs/main", two_);
  const std::string repo = "models--org--name";
  EXPECT_THAT(models(repo), ElementsAre(repo + "/snapshots/" + one_, repo + "/snapshots/" + two_));
  EXPECT_THAT(models(repo, "main"), ElementsAre(repo + "/snapshots/" + two_));
  EXPECT_THAT(models(repo, "gone"), ElementsAre("not_found"));
}

TEST_F(FindModels, AWholeCacheIsEveryModelOfItAlsoBelowItsHome) {
  folder_.put("hub/models--a--x/snapshots/" + one_ + "/config.json");
  folder_.put("hub/models--b--y/blobs/z");
  folder_.put("hub/datasets--c--z/snapshots/" + one_ + "/data.bin");
  const std::vector<std::string> all = {"hub/models--a--x/snapshots/" + one_, "hub/models--b--y"};
  EXPECT_EQ(models(), all);
  EXPECT_EQ(models("hub"), all);
  EXPECT_THAT(models("hub", "main"), ElementsAre("invalid_argument"));
}

TEST_F(FindModels, SaysWhatIsNotThere) { EXPECT_THAT(models("absent"), ElementsAre("not_found")); }

}  // namespace
}  // namespace vouchfs::doctor
