#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string_view>

#include "unit/publisher/stores.h"

namespace vouchfs::publisher {
namespace {

using test::Scratch;
using test::told;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kHex(64, '5');
const std::string kPointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + kHex + "\nsize 777\n";

// A repository made by git itself.
class GitEvidence : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(can_read_git());
    test::fs::create_directories(scratch.path("repo"));
    git({"init", "--quiet", "--initial-branch=main"});
  }
  std::string git(const std::vector<std::string>& words, const std::string& folder = "repo") const {
    std::vector<std::string> all = {
        "git", "-C", scratch.path(folder), "-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false"};
    all.insert(all.end(), words.begin(), words.end());
    return test::run_tool(all);
  }
  void commit_all(const std::string& folder = "repo") const {
    git({"add", "--all", "--force"}, folder);
    git({"commit", "--quiet", "--message", "x"}, folder);
  }
  EvidenceMap find(const std::string& model, const std::vector<std::string>& paths) const { return find_evidence(folder_place(scratch.path(model)), paths); }
  std::string head(const std::string& folder = "repo") const { return test::first_word(git({"rev-parse", "HEAD"}, folder)); }

  Scratch scratch;
};

TEST_F(GitEvidence, IsThePointersDigestOrTheNameOfTheBlob) {
  scratch.put("repo/config.json", "{\"a\":1}");
  scratch.put("repo/sub/model.safetensors", kPointer);
  commit_all();
  scratch.put("repo/sub/model.safetensors", "the content that git lfs checked out");
  scratch.put("repo/untracked", "x");
  const EvidenceMap map = find("repo", {"config.json", "sub/model.safetensors", "untracked"});
  EXPECT_THAT(told(map, "config.json"), ElementsAre("git-blob git-sha1:" + scratch.git_sha1("repo/config.json") + " git:" + head()));
  EXPECT_THAT(told(map, "sub/model.safetensors"), ElementsAre("git-lfs sha256:" + kHex + " git:" + head()));
  EXPECT_EQ(map.files.at("sub/model.safetensors")[0].bytes, 777U);
  EXPECT_EQ(map.files.at("config.json")[0].bytes, 7U);
  EXPECT_THAT(told(map, "untracked"), IsEmpty());
  EXPECT_THAT(map.notes, IsEmpty());
}

TEST_F(GitEvidence, IsReadFromPacksAndDeltasToo) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "line " + std::to_string(i) + "\n";
  scratch.put("repo/vocab.txt", text);
  scratch.put("repo/model.bin", kPointer);
  commit_all();
  scratch.put("repo/vocab.txt", text + "one more\n");
  scratch.put("repo/model.bin", kPointer.substr(0, kPointer.size() - 4) + "778\n");
  commit_all();
  git({"repack", "-a", "-d", "-f", "--depth=50", "--window=50", "--quiet"});
  git({"prune-packed", "--quiet"});
  ASSERT_THAT(git({"count-objects", "-v"}), AllOf(HasSubstr("count: 0"), HasSubstr("packs: 1")));
  const std::string pack = test::first_word(test::run_tool({"sh", "-c", "ls " + scratch.path("repo/.git/objects/pack/") + "*.idx"}));
  ASSERT_THAT(git({"verify-pack", "-v", pack}), HasSubstr("chain length = 1")) << "the pack must hold a delta";
  const EvidenceMap map = find("repo", {"model.bin", "vocab.txt"});
  EXPECT_THAT(told(map, "vocab.txt"), ElementsAre(StartsWith("git-blob git-sha1:" + scratch.git_sha1("repo/vocab.txt"))));
  EXPECT_EQ(map.files.at("model.bin")[0].bytes, 778U);
}

TEST_F(GitEvidence, OfAModelBelowTheWorkTreeIsThatOfItsFolder) {
  scratch.put("repo/models/bert/config.json", "{}");
  scratch.put("repo/config.json", "other");
  commit_all();
  const EvidenceMap map = find("repo/models/bert", {"config.json"});
  EXPECT_THAT(told(map, "config.json"), ElementsAre(StartsWith("git-blob git-sha1:" + scratch.git_sha1("repo/models/bert/config.json"))));
  test::fs::create_directories(scratch.path("repo/new"));
  scratch.put("repo/new/config.json", "{}");
  EXPECT_THAT(find("repo/new", {"config.json"}).files, IsEmpty());
}

TEST_F(GitEvidence, IsFoundThroughWorktreesAndSubmodules) {
  scratch.put("repo/config.json", "{}");
  commit_all();
  git({"worktree", "add", "--quiet", scratch.path("tree")});
  ASSERT_TRUE(test::fs::is_regular_file(scratch.path("tree/.git")));
  EXPECT_THAT(told(find("tree", {"config.json"}), "config.json"), ElementsAre(HasSubstr(scratch.git_sha1("repo/config.json"))));
  test::fs::create_directories(scratch.path("outer"));
  git({"init", "--quiet"}, "outer");
  git({"submodule", "--quiet", "add", scratch.path("repo"), "bert"}, "outer");
  ASSERT_TRUE(test::fs::is_regular_file(scratch.path("outer/bert/.git")));
  EXPECT_THAT(told(find("outer/bert", {"config.json"}), "config.json"), ElementsAre(HasSubstr(scratch.git_sha1("repo/config.json"))));
}

TEST_F(GitEvidence, NamesWhatHeadHasAndTheModelLacks) {
  scratch.put("repo/config.json", "{}");
  scratch.put("repo/model.safetensors", kPointer);
  scratch.put("repo/.gitattributes", "*.safetensors filter=lfs\n");
  commit_all();
  const EvidenceMap map = find("repo", {"config.json"});
  ASSERT_EQ(map.absent.size(), 1U);
  EXPECT_EQ(map.absent[0].path, "model.safetensors");
  EXPECT_EQ(map.absent[0].evidence.hex, kHex);
}

TEST_F(GitEvidence, OfALinkIsNone) {
  scratch.put("repo/real", "x");
  scratch.link("repo/linked", "real");
  commit_all();
  EXPECT_THAT(told(find("repo", {"linked", "real"}), "linked"), IsEmpty()) << "its blob is the path it leads to";
}

TEST_F(GitEvidence, OfAnEmptyRepositoryOrNoneIsNothing) {
  scratch.put("repo/a", "x");
  scratch.put("plain/a", "x");
  for (const char* model : {"repo", "plain"}) {
    const EvidenceMap map = find(model, {"a"});
    EXPECT_THAT(map.files, IsEmpty()) << model;
    EXPECT_THAT(map.notes, IsEmpty()) << model;
  }
}

TEST_F(GitEvidence, ThatCannotBeReadIsANote) {
  scratch.put("repo/a", "x");
  commit_all();
  const std::string id = head();
  scratch.put("repo/.git/objects/" + id.substr(0, 2) + "/" + id.substr(2), "no object");
  const EvidenceMap map = find("repo", {"a"});
  EXPECT_THAT(map.files, IsEmpty());
  EXPECT_THAT(map.notes, ElementsAre(HasSubstr("the Git repository cannot be used")));
}

// Opening a fifo waits for a writer: the test ends by its time limit where one is opened.
TEST_F(GitEvidence, OfARepositoryWithAFifoIsANoteAndNotAWaitWithoutEnd) {
  scratch.put("repo/config.json", "{}");
  commit_all();
  test::fs::create_directories(scratch.path("lender/info"));
  for (const char* name : {"repo/.git/config", "repo/.git/refs/heads/other", "repo/.git/objects/info/alternates", "lender/fifo"}) {
    if (std::string_view(name) == "lender/fifo") scratch.put("repo/.git/objects/info/alternates", scratch.path("lender") + "\n");
    const std::string kept = scratch.path("kept");
    const bool there = test::fs::exists(scratch.path(name));
    if (there) test::fs::rename(scratch.path(name), kept);
    ASSERT_EQ(::mkfifo(scratch.path(name).c_str(), 0600), 0);
    const EvidenceMap map = find("repo", {"config.json"});
    EXPECT_THAT(map.notes, ElementsAre(HasSubstr("holds a fifo"))) << name;
    test::fs::remove(scratch.path(name));
    if (there) test::fs::rename(kept, scratch.path(name));
  }
  EXPECT_THAT(find("repo", {"config.json"}).notes, IsEmpty());
}

TEST_F(GitEvidence, IsNotTakenFromAnObjectThatIsNotWhatItsNameSays) {
  scratch.put("repo/model.bin", kPointer);
  commit_all();
  const std::string blob = scratch.git_sha1("repo/model.bin");
  scratch.put("forged", kPointer.substr(0, kPointer.size() - 4) + "999\n");
  const std::string other = test::first_word(git({"hash-object", "-w", scratch.path("forged")}));
  const auto object = [&](const std::string& id) { return scratch.path("repo/.git/objects/" + id.substr(0, 2) + "/" + id.substr(2)); };
  test::fs::permissions(object(blob), test::fs::perms::owner_write, test::fs::perm_options::add);
  test::fs::copy_file(object(other), object(blob), test::fs::copy_options::overwrite_existing);
  const EvidenceMap map = find("repo", {"model.bin"});
  EXPECT_THAT(map.files, IsEmpty());
  EXPECT_THAT(map.notes, ElementsAre(HasSubstr("lacks 1 blobs")));
}

TEST_F(GitEvidence, RunsNothingAndReadsNoConfigurationOfTheUser) {
  scratch.put("repo/a.bin", "x");
  scratch.put("repo/.gitattributes", "*.bin filter=evil\n");
  git({"add", "."});
  git({"commit", "--quiet", "--message", "x"});
  const std::string touch = "touch " + scratch.path("was-run");
  for (const char* key : {"filter.evil.clean", "filter.evil.smudge", "core.fsmonitor", "core.sshCommand"}) git({"config", key, touch});
  scratch.put("home/.gitconfig", "[core\nbroken");
  const std::string home = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "";
  ::setenv("HOME", scratch.path("home").c_str(), 1);
  const EvidenceMap map = find("repo", {"a.bin"});
  ::setenv("HOME", home.c_str(), 1);
  EXPECT_THAT(told(map, "a.bin"), ElementsAre(HasSubstr(scratch.git_sha1("repo/a.bin"))));
  EXPECT_FALSE(test::fs::exists(scratch.path("was-run")));
}

TEST_F(GitEvidence, OfAnotherOwnersRepositoryIsReadToo) {
  scratch.put("repo/a", "x");
  commit_all();
  const auto give_away = [](const std::string& path) { return ::geteuid() != 0 || ::lchown(path.c_str(), 65534, 65534) == 0; };  // only root can
  for (const auto& entry : test::fs::recursive_directory_iterator(scratch.path("repo"))) ASSERT_TRUE(give_away(entry.path()));
  ASSERT_TRUE(give_away(scratch.path("repo")));
  EXPECT_EQ(find("repo", {"a"}).files.size(), 1U);
}

}  // namespace
}  // namespace vouchfs::publisher
