#include "seal/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "unit/base/oracle.h"
#include "unit/seal/sample_seal.h"

namespace vouchfs::seal::test {
namespace {

using ::testing::HasSubstr;

std::string refusal(std::string_view text) {
  const auto manifest = parse_manifest(text);
  if (manifest) return "accepted";
  EXPECT_EQ(manifest.error().code, ErrorCode::bad_format);
  return manifest.error().message;
}

// The manifest of files with these paths, in this order.
std::string manifest_with(const std::vector<std::string>& paths) {
  Manifest manifest;
  for (const std::string& path : paths) manifest.files.push_back({path, 1, {}, {}});
  return write_manifest(manifest);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

TEST(Manifest, WhatIsWrittenIsReadBack) {
  for (const Manifest& manifest : {sample_manifest(), Manifest{}}) {
    const auto read = parse_manifest(write_manifest(manifest));
    ASSERT_TRUE(read) << read.error().describe();
    EXPECT_EQ(*read, manifest);
  }
}

TEST(Manifest, TextIsWhatPythonsJsonWritesWithSortedKeysAndNoBlanks) {
  const vouchfs::test::TemporaryFolder folder;
  const std::string text = write_manifest(sample_manifest());
  EXPECT_EQ(text.back(), '\n');
  const std::string path = folder.write("manifest.json", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  EXPECT_EQ(vouchfs::test::run_tool({"python3", "-c",
                                     "import json,sys; sys.stdout.buffer.write((json.dumps(json.load(open(sys.argv[1],encoding='utf-8')),sort_keys=True,"
                                     "separators=(',',':'),ensure_ascii=False)+'\\n').encode())",
                                     path}),
            text);
}

TEST(Manifest, OtherBlanksOtherOrderAndUnknownKeysAreAccepted) {
  std::string text = write_manifest(sample_manifest());
  text = replaced(text, "\"files\":[", "\"note\":{\"files\":1.5,\"x\":[]},\n \"files\" :\t[ ");
  text = replaced(text, "\"size\":0", "\"size\" : 0, \"extra\": null");
  const auto read = parse_manifest(" \n" + text + "  ");
  ASSERT_TRUE(read) << read.error().describe();
  EXPECT_EQ(*read, sample_manifest());
}

TEST(Manifest, OtherFormatVersionHashOrBlockSizeIsRefusedByName) {
  const std::string text = write_manifest(sample_manifest());
  EXPECT_THAT(refusal(replaced(text, "vouchfs-manifest", "vouchfs-other")), HasSubstr("format is 'vouchfs-other'; this version reads 'vouchfs-manifest'"));
  EXPECT_THAT(refusal(replaced(text, "\"version\":1", "\"version\":2")), HasSubstr("version is 2"));
  EXPECT_THAT(refusal(replaced(text, "\"hash\":\"sha256\"", "\"hash\":\"sha512\"")), HasSubstr("hash is 'sha512'"));
  EXPECT_THAT(refusal(replaced(text, "\"block_size\":4096", "\"block_size\":1024")), HasSubstr("block_size is 1024"));
  EXPECT_THAT(refusal(replaced(text, "\"version\":1", "\"version\":1.0")), HasSubstr("not a floating point number"));
  EXPECT_THAT(refusal(replaced(text, "\"version\":1", "\"version\":\"1\"")), HasSubstr("not a string"));
}

TEST(Manifest, EveryFieldIsNeededAndNoneMayComeTwice) {
  const std::string text = write_manifest(sample_manifest());
  for (const char* key : {"block_size", "files", "format", "hash", "tensors", "version", "path", "size", "fsverity", "sha256"}) {
    const std::string quoted = "\"" + std::string(key) + "\":";
    EXPECT_THAT(refusal(replaced(text, quoted, "\"other\":")), HasSubstr("'" + std::string(key) + "' is missing")) << key;
  }
  EXPECT_THAT(refusal(replaced(text, "\"version\":1", "\"version\":1,\"version\":1")), HasSubstr("'version' comes twice"));
  EXPECT_THAT(refusal(replaced(text, "\"size\":0", "\"size\":0,\"size\":0")), HasSubstr("'size' comes twice"));
  EXPECT_THAT(refusal(replaced(text, "\"size\":0", "\"size\":0,\"\\u0073ize\":0")), HasSubstr("'size' comes twice"));
}

TEST(Manifest, NumbersAreBounded) {
  const std::string text = write_manifest(sample_manifest());
  for (const char* size : {"-1", "0.0", "1e3", "1152921504606846977", "18446744073709551616", "\"0\"", "null", "[0]"})
    EXPECT_NE(refusal(replaced(text, "\"size\":0", "\"size\":" + std::string(size))), "accepted") << size;
  EXPECT_EQ(refusal(replaced(text, "\"size\":0", "\"size\":1152921504606846976")), "accepted");
  EXPECT_EQ(refusal(replaced(text, "\"size\":77", "\"size\":1073741824")), "accepted");
  EXPECT_NE(refusal(replaced(text, "\"size\":77", "\"size\":1073741825")), "accepted");
}

TEST(Manifest, DigestsAreExactly64HexDigits) {
  const std::string text = write_manifest(sample_manifest());
  const std::string digest = hash::to_hex(digest_of(1));
  for (const std::string& bad : {digest.substr(1), digest + "0", "g" + digest.substr(1), std::string(), "sha256:" + digest})
    EXPECT_NE(refusal(replaced(text, digest, bad)), "accepted") << bad;
}

TEST(Manifest, UnsafePathsAreRefused) {
  for (const char* path : {"", "/etc/passwd", "a/", "a//b", ".", "..", "../a", "a/../b", "a/.", "./a"})
    EXPECT_THAT(refusal(manifest_with({path})), HasSubstr("path")) << path;
  EXPECT_NE(refusal(manifest_with({std::string("a\0b", 3)})), "accepted");
  EXPECT_NE(refusal(manifest_with({"\xFF"})), "accepted");
  EXPECT_NE(refusal(manifest_with({std::string(256, 'n')})), "accepted");
  EXPECT_EQ(refusal(manifest_with({std::string(255, 'n')})), "accepted");
  std::string deep = "d";
  while (deep.size() + 2 <= 4095) deep += "/d";
  EXPECT_EQ(refusal(manifest_with({deep})), "accepted");
  EXPECT_NE(refusal(manifest_with({deep + "/d"})), "accepted");
  for (const char* path : {"...", "..a", "a..", ".hidden", "a b", "-x", "a\\b", "a\nb"}) EXPECT_EQ(refusal(manifest_with({path})), "accepted") << path;
}

TEST(Manifest, PathsMustBeSortedBytewiseAndUnique) {
  EXPECT_THAT(refusal(manifest_with({"b", "a"})), HasSubstr("must be sorted"));
  EXPECT_THAT(refusal(manifest_with({"a", "a"})), HasSubstr("each once"));
  EXPECT_EQ(refusal(manifest_with({"B", "a", "\xC3\xA8"})), "accepted");
  EXPECT_NE(refusal(manifest_with({"a", "B"})), "accepted");
}

TEST(Manifest, FileMayNotBeAFolderOfAnother) {
  EXPECT_THAT(refusal(manifest_with({"a", "a/b"})), HasSubstr("'a' is a file and a folder"));
  EXPECT_THAT(refusal(manifest_with({"a", "a.b", "a/b"})), HasSubstr("'a' is a file and a folder"));
  EXPECT_NE(refusal(manifest_with({"x/a", "x/a-", "x/a/b/c"})), "accepted");
  EXPECT_EQ(refusal(manifest_with({"a.b", "a/b", "a/c", "ab"})), "accepted");
}

TEST(Manifest, EveryCutAndEveryFlippedByteIsRefusedOrAnotherManifest) {
  const std::string text = write_manifest(sample_manifest());
  for (std::size_t size = 0; size + 1 < text.size(); ++size) EXPECT_NE(refusal(text.substr(0, size)), "accepted") << size;
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    std::string flipped = text;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x04);
    const auto read = parse_manifest(flipped);
    EXPECT_FALSE(read && *read == sample_manifest()) << at << ": " << flipped.substr(at, 20);
  }
}

TEST(Manifest, HostileTextsAreRefused) {
  EXPECT_THAT(refusal(std::string(1'000'000, '[')), HasSubstr("must be an object"));
  EXPECT_NE(refusal("\xEF\xBB\xBF" + write_manifest(Manifest{})), "accepted");
  EXPECT_NE(refusal(write_manifest(Manifest{}) + '\0'), "accepted");
  EXPECT_NE(refusal(replaced(write_manifest(Manifest{}), "[]", "[" + std::string(1'000'000, '[') + "]")), "accepted");
}

}  // namespace
}  // namespace vouchfs::seal::test
