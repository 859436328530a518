// Ollama stores: manifests, absent and unfinished layers, what nothing wants.
#include "doctor/ollama_partials.h"
#include "support/gguf_writer.h"
#include "unit/doctor/sample_facts.h"

namespace vouchfs::doctor {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kTag = "manifests/registry.ollama.ai/library/tiny/latest";
const std::string kHex(64, 'a');

std::string manifest_of(const std::string& hex, std::uint64_t bytes) {
  return R"({"schemaVersion":2,"mediaType":"application/vnd.docker.distribution.manifest.v2+json","config":{"mediaType":"application/vnd.docker.container.image.v1+json","digest":"","size":0},)"
         R"("layers":[{"mediaType":"application/vnd.ollama.image.license","digest":"sha256:)" +
         hex + R"(","size":)" + std::to_string(bytes) + "}]}";
}

class OllamaStore : public testing::Test {
 protected:
  void SetUp() override {
    folder_.put(kTag, manifest_of(kHex, 7));
    folder_.put("blobs/sha256-" + kHex, "license");
  }
  ScratchFolder folder_;
};

TEST_F(OllamaStore, ThatIsGoodIsSilent) {
  const Report report = folder_.diagnose();
  EXPECT_THAT(said(report.findings), IsEmpty());
  EXPECT_EQ(report.models, 1U);
  EXPECT_EQ(report.files, 1U);
}

TEST_F(OllamaStore, BrokenManifestsAreSaidBesideGoodModels) {
  folder_.put("manifests/registry.ollama.ai/library/tiny/8b", "");
  folder_.put("manifests/registry.ollama.ai/user/cut/v1", manifest_of(kHex, 7).substr(0, 90));
  const Report report = folder_.diagnose();
  EXPECT_THAT(said(report.findings), ElementsAre("error ollama.manifest_broken manifests/registry.ollama.ai/library/tiny/8b",
                                                 "error ollama.manifest_broken manifests/registry.ollama.ai/user/cut/v1"));
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("tiny:8b is empty (0 bytes)"));
  EXPECT_EQ(report.findings.at(1).command, "ollama pull user/cut:v1");
  EXPECT_EQ(report.verdict, Verdict::damaged);
}

TEST_F(OllamaStore, AbsentLayerIsNamedByTypeSizeAndDigest) {
  stdfs::remove(folder_.path("blobs/sha256-" + kHex));
  const Report report = folder_.diagnose();
  EXPECT_THAT(said(report.findings), ElementsAre("error ollama.layer_missing blobs/sha256-" + kHex));
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("application/vnd.ollama.image.license, 7 bytes, sha256:" + kHex));
  EXPECT_EQ(report.verdict, Verdict::incomplete);
}

TEST_F(OllamaStore, UnfinishedLayerCountsWhatItsNotesSayAndNotItsSize) {
  stdfs::remove(folder_.path("blobs/sha256-" + kHex));
  folder_.put(kTag, manifest_of(kHex, 1 << 20));
  const std::string partial = "blobs/sha256-" + kHex + "-partial";
  folder_.put(partial);
  stdfs::resize_file(folder_.path(partial), 1 << 20);
  folder_.put(partial + "-0", R"({"N":0,"Offset":0,"Size":524288,"Completed":1000})");
  folder_.put(partial + "-1", R"({"N":1,"Offset":524288,"Size":524288,"Completed":234})");
  EXPECT_EQ(ollama_partials(folder_.path("blobs")).at(0).there, 1234U);
  const Report report = folder_.diagnose();
  EXPECT_THAT(said(report.findings), ElementsAre("error ollama.partial blobs/sha256-" + kHex));
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("1234 of 1048576 bytes are there"));
}

TEST_F(OllamaStore, UnfinishedLayerWithoutNotesCountsWhatTakesSpace) {
  const std::string partial = "blobs/sha256-" + std::string(64, 'b') + "-partial";
  folder_.put(partial);
  stdfs::resize_file(folder_.path(partial), 1 << 20);
  EXPECT_EQ(ollama_partials(folder_.path("blobs")).at(0).bytes, 1U << 20);
  EXPECT_EQ(ollama_partials(folder_.path("blobs")).at(0).there, 0U);
  EXPECT_THAT(said(folder_.diagnose().findings), ElementsAre("note ollama.partial " + partial));
}

TEST_F(OllamaStore, BlobsThatNoManifestNamesAreANoteUnlessAManifestIsBroken) {
  folder_.put("blobs/sha256-" + std::string(64, 'b'), "left over");
  EXPECT_THAT(said(folder_.diagnose().findings), ElementsAre("note store.unused_blob blobs/sha256-" + std::string(64, 'b')));
  folder_.put("manifests/registry.ollama.ai/library/tiny/8b", "");
  EXPECT_THAT(said(folder_.diagnose().findings), Not(Contains(HasSubstr("store.unused_blob"))));
}

TEST_F(OllamaStore, WithoutAManifestIsNoModel) {
  stdfs::remove(folder_.path(kTag));
  EXPECT_THAT(said(folder_.diagnose().findings), Contains(HasSubstr("error path.not_a_model")));
}

TEST_F(OllamaStore, IsFoundBelowItsHomeAndNamesFilesFromThere) {
  stdfs::create_directory(folder_.path("models"));
  stdfs::rename(folder_.path("manifests"), folder_.path("models/manifests"));
  stdfs::rename(folder_.path("blobs"), folder_.path("models/blobs"));
  folder_.put("models/manifests/registry.ollama.ai/library/tiny/8b", "");
  stdfs::remove(folder_.path("models/blobs/sha256-" + kHex));
  EXPECT_THAT(said(folder_.diagnose().findings), ElementsAre("error ollama.manifest_broken models/manifests/registry.ollama.ai/library/tiny/8b",
                                                             "error ollama.layer_missing models/blobs/sha256-" + kHex));
}

// Nobody who runs Ollama meets the errors of safetensors or of the Hugging Face client.
TEST_F(OllamaStore, DamagedWeightsQuoteWhatOllamaPrints) {
  tests::GgufWriter writer;
  writer.key_text("general.architecture", "llama");
  const std::string good = writer.tensor("a", 0, {8}, 32).write();
  const std::string hex(64, 'b');
  std::string manifest = manifest_of(hex, good.size());
  manifest.replace(manifest.find("image.license"), 13, "image.model");
  folder_.put(kTag, manifest);
  const std::vector<std::pair<std::string, std::string>> faults = {{std::string(good.size(), '\0'), "invalid magic characters: '?\?\?\?'"},
                                                                   {good.substr(0, good.size() - 8), "not within the file bounds"}};
  for (const auto& [bytes, text] : faults) {
    folder_.put("blobs/sha256-" + hex, bytes);
    const auto findings = folder_.diagnose().findings;
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(findings.front().severity, Severity::error);
    EXPECT_THAT(findings.front().loader, Contains(HasSubstr(text))) << findings.front().code;
    for (const char* other : {"deserializing header", "Consistency check"})
      EXPECT_THAT(findings.front().loader, Not(Contains(HasSubstr(other)))) << findings.front().code;
  }
}

}  // namespace
}  // namespace vouchfs::doctor
