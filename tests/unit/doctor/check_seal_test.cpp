// A sealed model without a full read: what is gone, cut, grown or new.
#include "unit/doctor/sample_facts.h"
#include "unit/ingest/model_folder.h"

namespace vouchfs::doctor {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SealedFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder_.put("config.json", R"({"model_type":"bert"})");
    folder_.put("notes.txt", "some notes");
    folder_.put("model.safetensors", ingest::test::safetensors({{"a.weight", 2000}}));
    ASSERT_TRUE(folder_.ingest());
  }
  std::vector<Finding> check() const {
    const CancelFlag cancel;
    const auto facts = gather(publisher::folder_place(folder_.path()), {}, cancel);
    EXPECT_TRUE(facts);
    return facts ? run(check_seal, *facts) : std::vector<Finding>{};
  }
  ingest::test::ModelFolder folder_;
};

TEST_F(SealedFolder, AsItWasIsSilent) { EXPECT_THAT(check(), IsEmpty()); }

TEST_F(SealedFolder, NamesWhatIsGoneCutGrownAndNew) {
  stdfs::remove(folder_.path("config.json"));
  stdfs::resize_file(folder_.path("model.safetensors"), 4000);
  folder_.put("notes.txt", "some notes and more");
  folder_.put("new.txt", "x");
  const auto findings = check();
  EXPECT_THAT(said(findings), ElementsAre("error seal.missing_file config.json", "error seal.size_mismatch model.safetensors",
                                          "error seal.size_mismatch notes.txt", "note seal.unsealed_file new.txt"));
  EXPECT_EQ(findings.at(1).offset, 4000U);
  EXPECT_THAT(findings.at(1).tensors, ElementsAre("a.weight"));
  EXPECT_THAT(findings.at(2).message, HasSubstr("grown"));
  EXPECT_EQ(findings.at(2).length, 9U);
}

TEST_F(SealedFolder, WithABrokenManifestSaysWhyTheSealIsOfNoUse) {
  std::ofstream(folder_.path(".vouch/manifest.json")) << "{";
  EXPECT_THAT(said(check()), ElementsAre("warning seal.unusable "));
}

}  // namespace
}  // namespace vouchfs::doctor
