// Hugging Face caches: refs, unfinished downloads and whose they are, blobs that nothing links to.
#include <sys/stat.h>

#include "doctor/hub_partials.h"
#include "doctor/stores.h"
#include "unit/doctor/sample_facts.h"

namespace vouchfs::doctor {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kCommit(40, 'c');
const std::string kOther(40, 'd');
const std::string kEtag(64, 'e');
constexpr const char* kRepo = "models--org--name";

// A cache folder with one snapshot whose only file links to a blob.
class HubCache : public testing::Test {
 protected:
  void SetUp() override {
    put("blobs/" + kEtag, "{}");
    folder_.link(std::string(kRepo) + "/snapshots/" + kCommit + "/config.json", "../../blobs/" + kEtag);
    put("refs/main", kCommit);
  }
  void put(const std::string& name, const std::string& bytes = "") const { folder_.put(std::string(kRepo) + "/" + name, bytes); }
  std::string dir() const { return folder_.path(kRepo); }
  std::vector<Finding> check(bool of_snapshot = false) const {
    Findings findings;
    check_hub_folder(dir(), "", of_snapshot, findings);
    return std::move(findings).take();
  }
  ScratchFolder folder_;
};

TEST_F(HubCache, ThatIsGoodIsSilent) { EXPECT_THAT(said(check()), IsEmpty()); }

TEST_F(HubCache, RefWithANewlineNamesTheCommandThatMendsIt) {
  put("refs/main", kCommit + "\n");
  const auto findings = check();
  EXPECT_THAT(said(findings), ElementsAre("error hub.bad_ref refs/main"));
  EXPECT_EQ(findings.at(0).offset, 40U);
  EXPECT_EQ(findings.at(0).length, 1U);
  EXPECT_EQ(findings.at(0).command, "printf %s " + kCommit + " > " + dir() + "/refs/main");
}

TEST_F(HubCache, RefToNoSnapshotIsAnErrorForMainAndAWarningForOthers) {
  put("refs/main", kOther);
  put("refs/pr/1", kOther);
  const auto findings = check();
  EXPECT_THAT(said(findings), ElementsAre("error hub.bad_ref refs/main", "warning hub.bad_ref refs/pr/1"));
  EXPECT_THAT(findings.at(0).message, HasSubstr("names " + kOther));
  EXPECT_THAT(said(check(true)), ElementsAre("warning hub.bad_ref refs/main", "warning hub.bad_ref refs/pr/1"));
}

TEST_F(HubCache, EmptyRefIsABadOne) {
  put("refs/main", "");
  EXPECT_THAT(check().at(0).message, HasSubstr("empty"));
}

TEST_F(HubCache, WithoutRefsOrSnapshotsSaysSo) {
  stdfs::remove(dir() + "/refs/main");
  EXPECT_THAT(said(check()), ElementsAre("warning hub.no_ref refs"));
  stdfs::remove_all(dir() + "/snapshots");
  EXPECT_THAT(said(check()), ElementsAre("error hub.no_snapshot snapshots"));
}

TEST_F(HubCache, UnusedBlobsAreOneNoteWithTheirBytes) {
  put("blobs/" + std::string(40, '1'), "12345");
  put("blobs/" + std::string(40, '2'), "67");
  const auto findings = check();
  EXPECT_THAT(said(findings), ElementsAre("note store.unused_blob blobs/" + std::string(40, '1')));
  EXPECT_THAT(findings.at(0).message, HasSubstr("2 blobs that no snapshot links to, 7 bytes"));
}

TEST_F(HubCache, ThatNobodyMayWriteToIsReadOnly) {
  ASSERT_EQ(::chmod(dir().c_str(), 0555), 0);
  EXPECT_THAT(said(check()), ElementsAre("note hub.read_only "));
  ASSERT_EQ(::chmod(dir().c_str(), 0755), 0);
}

TEST(EtagOfPartial, KnowsBothForms) {
  const std::string sha1(40, '0');
  EXPECT_EQ(etag_of_partial(kEtag + ".incomplete"), kEtag);
  EXPECT_EQ(etag_of_partial(sha1 + ".0a1b2c3d.incomplete"), sha1);
  for (const std::string& name : {kEtag, std::string(".incomplete"), kEtag + ".0a1b2c3.incomplete", kEtag + ".0a1b2c3g.incomplete", std::string("x.incomplete")})
    EXPECT_FALSE(etag_of_partial(name)) << name;
}

TEST_F(HubCache, PartialBelongsToTheFileOfTheListing) {
  const std::string wanted(64, 'f');
  put("blobs/" + wanted + ".incomplete", std::string(100, 'x'));
  put("trees/" + kCommit + ".json", R"({"format_version":1,"files":{"model.safetensors":{"size":130,"blob_id":")" + std::string(40, '9') +
                                        R"(","lfs_sha256":")" + wanted + R"(","lfs_size":4000,"xet_hash":null}}})");
  const auto partials = hub_partials(dir());
  ASSERT_EQ(partials.size(), 1U);
  EXPECT_EQ(partials[0].bytes, 100U);
  ASSERT_EQ(partials[0].owners.size(), 1U);
  EXPECT_EQ(partials[0].owners[0].path, "model.safetensors");
  EXPECT_EQ(partials[0].owners[0].revision, kCommit);
  EXPECT_EQ(partials[0].owners[0].bytes, 4000U);
  const Report report = folder_.diagnose(kRepo);
  const auto said_of = said(report.findings);
  EXPECT_THAT(said_of, Contains("error hub.incomplete_download snapshots/" + kCommit + "/model.safetensors"));
  EXPECT_THAT(report.findings.at(0).message, HasSubstr("100 of 4000 bytes are there"));
  EXPECT_EQ(report.verdict, Verdict::incomplete);
}

TEST_F(HubCache, PartialOfADanglingLinkIsSaidOnceAsAnError) {
  const std::string wanted(64, 'f');
  put("blobs/" + wanted + ".0a1b2c3d.incomplete", "x");
  folder_.link(std::string(kRepo) + "/snapshots/" + kCommit + "/model.safetensors", "../../blobs/" + wanted);
  const std::string file = "snapshots/" + kCommit + "/model.safetensors";
  EXPECT_THAT(said(folder_.diagnose(kRepo).findings), ElementsAre("error link.dangling " + file, "note hub.incomplete_download " + file));
}

TEST_F(HubCache, PartialThatListingsDoNotNameIsOfAnotherRevision) {
  put("blobs/" + std::string(64, 'f') + ".incomplete", "x");
  EXPECT_THAT(said(check()), ElementsAre("error hub.incomplete_download blobs/" + std::string(64, 'f') + ".incomplete"));
  put("trees/" + kCommit + ".json", R"({"format_version":1,"files":{}})");
  EXPECT_THAT(said(check()), ElementsAre("note hub.incomplete_download blobs/" + std::string(64, 'f') + ".incomplete"));
}

TEST_F(HubCache, PartialThatWasReservedInFullCountsWhatTakesSpace) {
  const std::string name = dir() + "/blobs/" + std::string(64, 'f') + ".incomplete";
  put("blobs/" + std::string(64, 'f') + ".incomplete", std::string(4096, 'x'));
  stdfs::resize_file(name, 64 << 20);
  EXPECT_LE(hub_partials(dir()).at(0).bytes, 65536U);
}

TEST_F(HubCache, SnapshotGivenAloneNamesFilesOfTheCacheFromThere) {
  put("blobs/" + std::string(64, 'f') + ".incomplete", "x");
  put("refs/main", kCommit + "\n");
  EXPECT_THAT(said(folder_.diagnose(std::string(kRepo) + "/snapshots/" + kCommit).findings),
              ElementsAre("error hub.incomplete_download ../../blobs/" + std::string(64, 'f') + ".incomplete", "warning hub.bad_ref ../../refs/main"));
}

TEST_F(HubCache, MarksOfAbsenceAreUsualUnlessTheFileIsThere) {
  put(".no_exist/" + kCommit + "/added_tokens.json");
  EXPECT_THAT(said(folder_.diagnose(kRepo).findings), testing::Not(Contains(HasSubstr("hub.no_exist"))));
  put(".no_exist/" + kCommit + "/config.json");
  EXPECT_THAT(said(folder_.diagnose(kRepo).findings), Contains("warning hub.no_exist .no_exist/" + kCommit + "/config.json"));
}

}  // namespace
}  // namespace vouchfs::doctor
