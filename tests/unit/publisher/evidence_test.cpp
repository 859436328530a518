#include "publisher/evidence.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>

#include "unit/publisher/stores.h"

namespace vouchfs::publisher {
namespace {

using test::kCommit;
using test::kOtherCommit;
using test::Scratch;
using test::told;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kHex1(64, '1');
const std::string kHex2(64, '2');
const std::string kSha1(40, '3');

void set_mtime(const std::string& path, std::int64_t seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

// --- Hugging Face cache ------------------------------------------------------------------------------------------------------

class HfEvidence : public ::testing::Test {
 protected:
  const std::string snapshot = "models--o--n/snapshots/" + kCommit;
  void put_blob(const std::string& path, const std::string& name) const {
    scratch.put("models--o--n/blobs/" + name, "content of " + path);
    const std::size_t depth = static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
    std::string up = "../../";
    for (std::size_t i = 0; i < depth; ++i) up += "../";
    scratch.link(snapshot + "/" + path, up + "blobs/" + name);
  }
  EvidenceMap find(const std::vector<std::string>& paths) const {
    const auto place = resolve_place(scratch.path(snapshot));
    EXPECT_TRUE(place);
    return find_evidence(*place, paths);
  }
  Scratch scratch;
};

TEST_F(HfEvidence, ComesFromTheNamesOfBlobs) {
  put_blob("sub/model.safetensors", kHex1);
  put_blob("config.json", kSha1);
  put_blob("odd.txt", "W-not-a-digest");
  scratch.put(snapshot + "/copied.txt", "no link");
  const EvidenceMap map = find({"config.json", "copied.txt", "odd.txt", "sub/model.safetensors"});
  EXPECT_THAT(told(map, "sub/model.safetensors"), ElementsAre("hf-blob sha256:" + kHex1 + " blobs/" + kHex1));
  EXPECT_THAT(told(map, "config.json"), ElementsAre("hf-blob git-sha1:" + kSha1 + " blobs/" + kSha1));
  EXPECT_THAT(told(map, "odd.txt"), IsEmpty());
  EXPECT_THAT(told(map, "copied.txt"), IsEmpty());
}

TEST_F(HfEvidence, OfAFileNamedLikeADigestOutsideACacheIsNone) {
  scratch.put("elsewhere/blobs/" + kHex1, "x");
  scratch.link("plain/model.bin", "../elsewhere/blobs/" + kHex1);
  EXPECT_THAT(find_evidence(folder_place(scratch.path("plain")), {"model.bin"}).files, IsEmpty());
}

TEST_F(HfEvidence, ComesFromTheListingOfTheCommitAndTellsWhatIsAbsent) {
  put_blob("config.json", kSha1);
  scratch.put("models--o--n/trees/" + kCommit + ".json", "{\"format_version\":1,\"files\":{\"config.json\":{\"size\":5,\"blob_id\":\"" + kSha1 +
                                                             "\"},\"model.safetensors\":{\"size\":7,\"blob_id\":\"" + kSha1 + "\",\"lfs_sha256\":\"" + kHex2 +
                                                             "\",\"lfs_size\":7},\".gitattributes\":{\"size\":1,\"blob_id\":\"" + kSha1 + "\"}}}");
  scratch.put("models--o--n/trees/" + kOtherCommit + ".json", "{\"format_version\":1,\"files\":{\"other.json\":{\"size\":5,\"blob_id\":\"" + kSha1 + "\"}}}");
  const EvidenceMap map = find({"config.json"});
  EXPECT_THAT(told(map, "config.json"),
              ElementsAre("hf-blob git-sha1:" + kSha1 + " blobs/" + kSha1, "hf-tree git-sha1:" + kSha1 + " trees/" + kCommit + ".json"));
  ASSERT_EQ(map.absent.size(), 1U) << "evidence files themselves are not missed";
  EXPECT_EQ(map.absent[0].path, "model.safetensors");
  EXPECT_EQ(map.absent[0].evidence.hex, kHex2) << "of a file in LFS blob_id is the pointer's";
  EXPECT_EQ(map.absent[0].evidence.bytes, 7U);
}

TEST_F(HfEvidence, OfAListingThatCannotBeReadIsANote) {
  put_blob("config.json", kSha1);
  scratch.put("models--o--n/trees/" + kCommit + ".json", "{\"format_version\":1,\"files\":{\"../x\":{\"size\":5}}}");
  const EvidenceMap map = find({"config.json"});
  EXPECT_THAT(map.notes, ElementsAre(HasSubstr("trees/" + kCommit + ".json cannot be used")));
  EXPECT_THAT(told(map, "config.json"), ElementsAre(HasSubstr("hf-blob")));
}

// --- --local-dir -------------------------------------------------------------------------------------------------------------

TEST(LocalDirEvidence, ComesFromNotesThatAreYoungerThanTheirFile) {
  const Scratch scratch;
  const std::string notes = "m/.cache/huggingface/download/";
  for (const char* name : {"old", "same-second", "later"}) {
    scratch.put(std::string("m/") + name, "x");
    scratch.put(notes + name + ".metadata", kCommit + "\n" + kHex1 + "\n1000.5\n");
  }
  set_mtime(scratch.path("m/old"), 900);
  set_mtime(scratch.path("m/same-second"), 1001);
  set_mtime(scratch.path("m/later"), 1002);
  const EvidenceMap map = find_evidence(folder_place(scratch.path("m")), {"later", "old", "same-second"});
  EXPECT_THAT(told(map, "old"), ElementsAre("hf-local-dir sha256:" + kHex1 + " " + notes.substr(2) + "old.metadata"));
  EXPECT_THAT(told(map, "same-second"), ElementsAre(HasSubstr("hf-local-dir")));
  EXPECT_THAT(told(map, "later"), IsEmpty());
}

TEST(LocalDirEvidence, ComesFromTheOnlyListingOrFromThatOfEachNote) {
  const Scratch scratch;
  const auto listing = [](const std::string& file, const std::string& hex) {
    return "{\"format_version\":1,\"files\":{\"" + file + "\":{\"size\":1,\"lfs_sha256\":\"" + hex + "\"},\"unwanted.bin\":{\"size\":1,\"lfs_sha256\":\"" +
           hex + "\"}}}";
  };
  scratch.put("m/a", "x");
  scratch.put("m/.cache/huggingface/trees/" + kCommit + ".json", listing("a", kHex1));
  const Place place = folder_place(scratch.path("m"));
  EXPECT_THAT(told(find_evidence(place, {"a"}), "a"), ElementsAre("hf-tree sha256:" + kHex1 + " .cache/huggingface/trees/" + kCommit + ".json"));
  EXPECT_EQ(find_evidence(place, {"a"}).absent.size(), 1U);
  scratch.put("m/.cache/huggingface/trees/" + kOtherCommit + ".json", listing("a", kHex2));
  EXPECT_THAT(told(find_evidence(place, {"a"}), "a"), IsEmpty()) << "two listings, and nothing says which one the file is of";
  scratch.put("m/.cache/huggingface/download/a.metadata", kOtherCommit + "\n" + kHex2 + "\n99999999999\n");
  EXPECT_THAT(told(find_evidence(place, {"a"}), "a"), ElementsAre(HasSubstr("hf-tree sha256:" + kHex2), HasSubstr("hf-local-dir sha256:" + kHex2)));
}

// --- checksum lists ----------------------------------------------------------------------------------------------------------

TEST(ChecksumEvidence, ComesFromListsAtTheRootInFoldersAndBesideOneFile) {
  const Scratch scratch;
  scratch.put("m/SHA256SUMS", kHex1 + "  ./a.bin\n" + kHex2 + " *sub/b.bin\n" + kHex1 + "  gone.bin\n" + kHex1 + "  ../outside\n" + kHex1 + "  /etc/passwd\n");
  scratch.put("m/sub/checksums.sha256", kHex1 + "  c.bin\n");
  scratch.put("m/sub/d.gguf.sha256", kHex2 + "  /srv/build/d.gguf\n");
  scratch.put("m/e.gguf.sha256", kHex1 + "\n");
  scratch.put("m/f.sha256", "not a list\n");
  const EvidenceMap map = find_evidence(folder_place(scratch.path("m")), {"SHA256SUMS", "a.bin", "e.gguf", "e.gguf.sha256", "f", "f.sha256", "sub/b.bin",
                                                                          "sub/c.bin", "sub/checksums.sha256", "sub/d.gguf", "sub/d.gguf.sha256"});
  EXPECT_THAT(told(map, "a.bin"), ElementsAre("sha256sums sha256:" + kHex1 + " SHA256SUMS"));
  EXPECT_THAT(told(map, "sub/b.bin"), ElementsAre("sha256sums sha256:" + kHex2 + " SHA256SUMS"));
  EXPECT_THAT(told(map, "sub/c.bin"), ElementsAre("sha256sums sha256:" + kHex1 + " sub/checksums.sha256"));
  EXPECT_THAT(told(map, "sub/d.gguf"), ElementsAre("sha256sums sha256:" + kHex2 + " sub/d.gguf.sha256"));
  EXPECT_THAT(told(map, "e.gguf"), ElementsAre("sha256sums sha256:" + kHex1 + " e.gguf.sha256"));
  EXPECT_THAT(map.exempt, ElementsAre("SHA256SUMS", "e.gguf.sha256", "f.sha256", "sub/checksums.sha256", "sub/d.gguf.sha256"));
  ASSERT_EQ(map.absent.size(), 1U);
  EXPECT_EQ(map.absent[0].path, "gone.bin");
  EXPECT_THAT(map.notes, ElementsAre(HasSubstr("SHA256SUMS names 2 files"), HasSubstr("f.sha256 cannot be used")));
}

TEST(ChecksumEvidence, OfAListSaysNothingOfTheListItself) {
  const Scratch scratch;
  scratch.put("m/SHA256SUMS", kHex1 + "  ./SHA256SUMS\n" + kHex2 + "  a.bin\n" + kHex1 + "  sub/SHA256SUMS\n");
  scratch.put("m/sub/SHA256SUMS", kHex1 + "  SHA256SUMS\n");
  const EvidenceMap map = find_evidence(folder_place(scratch.path("m")), {"SHA256SUMS", "a.bin", "sub/SHA256SUMS"});
  EXPECT_EQ(map.files.count("SHA256SUMS"), 0U);
  EXPECT_THAT(told(map, "a.bin"), ElementsAre("sha256sums sha256:" + kHex2 + " SHA256SUMS"));
  EXPECT_THAT(told(map, "sub/SHA256SUMS"), ElementsAre("sha256sums sha256:" + kHex1 + " SHA256SUMS")) << "what one list says of another counts";
  EXPECT_TRUE(map.notes.empty());
}

TEST(ChecksumEvidence, OfAListWithOtherLinesStaysGood) {
  const Scratch scratch;
  scratch.put("m/SHA256SUMS", "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n" + kHex1 + "  a.bin\n" + kHex2 +
                                  "  b.bin\n-----BEGIN PGP SIGNATURE-----\n\niQIzBAEBCAAdFiEE\n-----END PGP SIGNATURE-----\n");
  scratch.put("m/c.sha256", "sha256 of c\n" + kHex1 + "\n");
  const EvidenceMap map = find_evidence(folder_place(scratch.path("m")), {"SHA256SUMS", "a.bin", "b.bin", "c", "c.sha256"});
  EXPECT_THAT(told(map, "a.bin"), ElementsAre("sha256sums sha256:" + kHex1 + " SHA256SUMS"));
  EXPECT_THAT(told(map, "b.bin"), ElementsAre("sha256sums sha256:" + kHex2 + " SHA256SUMS"));
  EXPECT_THAT(told(map, "c"), ElementsAre("sha256sums sha256:" + kHex1 + " c.sha256"));
  EXPECT_THAT(map.notes, ElementsAre(HasSubstr("SHA256SUMS: 5 lines cannot be used, the others are (line 1 is no checksum line"),
                                     HasSubstr("c.sha256: 1 line cannot be used, the others are (line 1 is no checksum line")));
}

// --- Ollama ------------------------------------------------------------------------------------------------------------------

TEST(OllamaEvidence, ComesFromTheManifest) {
  const Scratch scratch;
  ::setenv("OLLAMA_MODELS", scratch.path("store").c_str(), 1);
  scratch.put("store/manifests/registry.ollama.ai/library/x/latest",
              "{\"schemaVersion\":2,\"layers\":[{\"mediaType\":\"application/vnd.ollama.image.model\",\"digest\":\"sha256:" + kHex1 + "\",\"size\":9}]}");
  const auto place = resolve_place("ollama:x");
  ::unsetenv("OLLAMA_MODELS");
  ASSERT_TRUE(place) << place.error().describe();
  const EvidenceMap map = find_evidence(*place, {"model.gguf"});
  EXPECT_THAT(told(map, "model.gguf"), ElementsAre("ollama sha256:" + kHex1 + " manifests/registry.ollama.ai/library/x/latest"));
  EXPECT_EQ(map.files.at("model.gguf")[0].bytes, 9U);
}

// --- content behind a pointer ------------------------------------------------------------------------------------------------

TEST(FindContent, LooksBesideTheModelAndComparesTheSize) {
  const Scratch scratch;
  scratch.put("models--o--n/blobs/" + kHex1, "12345");
  scratch.put("models--o--n/snapshots/" + kCommit + "/a", "x");
  const auto snapshot = resolve_place(scratch.path("models--o--n"));
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(find_content(*snapshot, kHex1, 5), scratch.path("models--o--n/blobs/" + kHex1));
  EXPECT_EQ(find_content(*snapshot, kHex1, 6), std::nullopt);
  EXPECT_EQ(find_content(*snapshot, kHex2, 5), std::nullopt);
  scratch.put("repo/.git/lfs/objects/11/11/" + kHex1, "123");
  scratch.put("repo/sub/model/a", "x");
  scratch.put("repo/tree/.git", "gitdir: ../.git/worktrees/tree\n");
  scratch.put("repo/.git/worktrees/tree/commondir", "../..\n");
  for (const char* model : {"repo", "repo/sub/model", "repo/tree"}) EXPECT_TRUE(find_content(folder_place(scratch.path(model)), kHex1, 3)) << model;
  EXPECT_FALSE(find_content(folder_place(scratch.path("models--o--n")), kHex1, 3));
}

}  // namespace
}  // namespace vouchfs::publisher
