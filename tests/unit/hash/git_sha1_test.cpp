// Git's name of a content, against git itself.
#include "hash/git_sha1.h"

#include <gtest/gtest.h>

#include "unit/base/oracle.h"

namespace vouchfs::hash {
namespace {

GitSha1 whole(std::span<const std::uint8_t> data) {
  GitSha1Stream stream(data.size());
  stream.update(data);
  return stream.finish();
}

TEST(GitSha1, AgreesWithGitHashObject) {
  test::TemporaryFolder folder;
  for (const std::size_t bytes : {0U, 1U, 40U, 47U, 48U, 55U, 64U, 4096U, 1'000'001U}) {
    const std::vector<std::uint8_t> data = test::random_bytes(bytes, bytes);
    const std::string path = folder.write("content", data);
    EXPECT_EQ(to_hex(whole(data)), test::first_word(test::run_tool({"git", "hash-object", "--no-filters", path}))) << bytes << " bytes";
  }
}

TEST(GitSha1, PiecesOfAnySizeGiveTheSameName) {
  const std::vector<std::uint8_t> data = test::random_bytes(10'000, 7);
  for (const std::size_t piece : {1U, 63U, 64U, 4096U, 9'999U}) {
    GitSha1Stream stream(data.size());
    for (std::size_t at = 0; at < data.size(); at += piece) stream.update(std::span(data).subspan(at, std::min(piece, data.size() - at)));
    EXPECT_EQ(stream.finish(), whole(data)) << "pieces of " << piece;
  }
}

TEST(GitSha1, IsReadFromExactlyItsFortyDigits) {
  const GitSha1 digest = whole(test::random_bytes(5, 5));
  EXPECT_EQ(parse_git_sha1(to_hex(digest)), digest);
  for (const std::string& text : {std::string(), std::string(39, 'a'), std::string(41, 'a'), std::string(39, 'a') + "g", "+" + std::string(39, 'a'),
                                  " " + std::string(39, 'a'), "0x" + std::string(38, 'a')})
    EXPECT_FALSE(parse_git_sha1(text)) << text;
}

}  // namespace
}  // namespace vouchfs::hash
