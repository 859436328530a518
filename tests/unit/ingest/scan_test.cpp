#include "ingest/scan.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/file.h"
#include "unit/ingest/model_folder.h"

namespace vouchfs::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using test::ModelFolder;

class Scan : public ::testing::Test {
 protected:
  Result<ScanResult> scan(std::optional<FolderId> seal = std::nullopt) const {
    const auto root = open_at(AT_FDCWD, model.path(), O_RDONLY | O_DIRECTORY, model.path());
    const CancelFlag cancel;
    return scan_model(root->get(), model.path(), seal, cancel);
  }
  static std::vector<std::string> paths(const ScanResult& scan) {
    std::vector<std::string> out;
    for (const ScannedFile& file : scan.files) out.push_back(file.path);
    return out;
  }
  // Refused, naming this path.
  void expect_refused(const std::string& name, const std::string& why, ErrorCode code = ErrorCode::bad_format) const {
    const auto result = scan();
    ASSERT_FALSE(result) << name << " is not refused";
    EXPECT_EQ(result.error().code, code) << result.error().describe();
    EXPECT_EQ(result.error().where.file, model.path(name));
    EXPECT_THAT(result.error().message, HasSubstr(why));
    EXPECT_NE(result.error().advice, "");
  }
  ModelFolder model;
};

TEST_F(Scan, ListsFilesOfAllFoldersSortedByBytes) {
  for (const char* name : {"b", "a/x", "a.txt", "a-b", "Z", "\xc3\xa8"}) model.put(name, "1");
  const auto result = scan();
  ASSERT_TRUE(result);
  EXPECT_THAT(paths(*result), ElementsAre("Z", "a-b", "a.txt", "a/x", "b", "\xc3\xa8"));
}

TEST_F(Scan, LeavesOutSealGitAndCacheAtAnyDepthAndSaysSo) {
  for (const char* name : {".vouch/manifest.json", "sub/.git/HEAD", "sub/.cache/x", "sub/kept"}) model.put(name, "1");
  model.put("other/.git", "gitdir: elsewhere");  // a worktree has a file of that name
  const auto result = scan();
  ASSERT_TRUE(result);
  EXPECT_THAT(paths(*result), ElementsAre("sub/kept"));
  EXPECT_THAT(result->left_out, ElementsAre(".vouch", "other/.git", "sub/.cache", "sub/.git"));
}

TEST_F(Scan, LeavesOutASealDirectoryInsideTheModel) {
  model.put("seal/manifest.json", "1");
  model.put("kept", "1");
  struct stat info {};
  ASSERT_EQ(::stat(model.path("seal").c_str(), &info), 0);
  const auto result = scan(FolderId{info.st_dev, info.st_ino});
  ASSERT_TRUE(result);
  EXPECT_THAT(paths(*result), ElementsAre("kept"));
  EXPECT_THAT(result->left_out, ElementsAre("seal"));
}

TEST_F(Scan, FollowsLinksToFilesAndFoldersAnywhere) {
  test::fs::create_directories(model.beside("blobs/folder"));
  std::ofstream(model.beside("blobs/one")) << "12345";
  std::ofstream(model.beside("blobs/folder/two")) << "12";
  test::fs::create_symlink("../blobs/one", model.path("linked"));
  test::fs::create_symlink(model.beside("blobs/folder"), model.path("first"));
  test::fs::create_symlink(model.beside("blobs/folder"), model.path("second"));  // twice the same folder is no loop
  const auto result = scan();
  ASSERT_TRUE(result) << result.error().describe();
  EXPECT_THAT(paths(*result), ElementsAre("first/two", "linked", "second/two"));
  EXPECT_EQ(result->files[1].identity.bytes, 5U);
}

TEST_F(Scan, RefusesADanglingLinkAndNamesItsTarget) {
  test::fs::create_symlink("../nowhere/blob", model.path("gone.safetensors"));
  expect_refused("gone.safetensors", "../nowhere/blob");
}

TEST_F(Scan, RefusesLinksThatLeadToEachOther) {
  test::fs::create_symlink("b", model.path("a"));
  test::fs::create_symlink("a", model.path("b"));
  expect_refused("a", "loop");
}

TEST_F(Scan, RefusesAFolderLinkToAnAncestor) {
  test::fs::create_directories(model.path("sub/deep"));
  test::fs::create_symlink("../..", model.path("sub/deep/upwards"));
  expect_refused("sub/deep/upwards", "loop");
}

TEST_F(Scan, RefusesAFifoWithoutWaitingForAWriter) {
  ASSERT_EQ(::mkfifo(model.path("pipe").c_str(), 0644), 0);
  expect_refused("pipe", "a fifo");
}

TEST_F(Scan, RefusesASocket) {
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(model.path("s").size(), sizeof address.sun_path);
  std::strcpy(address.sun_path, model.path("s").c_str());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  expect_refused("s", "a socket");
}

TEST_F(Scan, RefusesALinkToADevice) {
  test::fs::create_symlink("/dev/null", model.path("null.bin"));
  expect_refused("null.bin", "a device");
}

TEST_F(Scan, RefusesANameThatIsNotUtf8) {
  model.put("weights-\xff\xfe.bin", "x");
  expect_refused("weights-\xff\xfe.bin", "UTF-8");
}

TEST_F(Scan, StopsWhenCancelled) {
  model.put("a", "1");
  CancelFlag cancel;
  cancel.request();
  const auto root = open_at(AT_FDCWD, model.path(), O_RDONLY | O_DIRECTORY, model.path());
  const auto result = scan_model(root->get(), model.path(), std::nullopt, cancel);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::cancelled);
}

TEST_F(Scan, GoesAsDeepAsAPathMayBeLong) {
  std::string deep;
  for (int i = 0; i < 1100; ++i) deep += "d/";
  test::run_tool({"mkdir", "-p", model.path(deep)});
  std::ofstream(model.path(deep + "file")) << "1";
  const auto result = scan();
  ASSERT_TRUE(result) << result.error().describe();
  EXPECT_THAT(paths(*result), ElementsAre(deep + "file"));
  test::run_tool({"rm", "-rf", model.path("d")});  // too deep for std::filesystem::remove_all
}

TEST_F(Scan, NamesWhatDiffersBetweenTwoScans) {
  model.put("a", "1");
  model.put("b", "1");
  const auto before = scan();
  ASSERT_TRUE(before && same_files(*before, *scan(), "M"));
  model.put("ab", "1");
  const Status appeared = same_files(*before, *scan(), "M");
  ASSERT_FALSE(appeared);
  EXPECT_EQ(appeared.error().where.file, "M/ab");
  EXPECT_EQ(appeared.error().code, ErrorCode::changed);
  test::fs::remove(model.path("ab"));
  test::fs::remove(model.path("b"));
  EXPECT_EQ(same_files(*before, *scan(), "M").error().where.file, "M/b");
  model.put("b", "22");
  EXPECT_EQ(same_files(*before, *scan(), "M").error().where.file, "M/b");
}

TEST_F(Scan, FindsBothNamesOfACollision) {
  model.put("index.json", "1");
  model.put("index.json-other", "1");
  EXPECT_TRUE(check_orig_free(*scan(), "index.json", "M"));
  model.put("index.json.orig/inside", "1");  // a folder takes the name too
  const Status taken = check_orig_free(*scan(), "index.json", "M");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().where.file, "M/index.json");
  EXPECT_THAT(taken.error().message, HasSubstr("index.json.orig"));
}

}  // namespace
}  // namespace vouchfs::ingest
