#include "formats/store_files.h"

#include <gmock/gmock.h>

namespace vouchfs::formats {
namespace {

using ::testing::HasSubstr;

const std::string kSha256(64, 'a');
const std::string kSha1(40, 'b');

std::string tree_of(const std::string& files, const std::string& version = "1") { return "{\"format_version\":" + version + ",\"files\":{" + files + "}}"; }

// --- trees/<commit>.json -----------------------------------------------------------------------------------------------------

TEST(HfTree, GivesDigestsAndSizesOfFilesInGitAndInLfs) {
  const auto tree = parse_hf_tree(
      tree_of("\"config.json\":{\"size\":12,\"blob_id\":\"" + kSha1 + "\",\"lfs_sha256\":null,\"lfs_size\":null,\"xet_hash\":null}," +
              "\"sub/model.safetensors\":{\"size\":900,\"blob_id\":\"" + kSha1 + "\",\"lfs_sha256\":\"" + kSha256 + "\",\"lfs_size\":900,\"xet_hash\":\"x\"}"));
  ASSERT_TRUE(tree) << tree.error().describe();
  ASSERT_EQ(tree->size(), 2U);
  EXPECT_EQ(tree->at("config.json").git_sha1, kSha1);
  EXPECT_EQ(tree->at("config.json").sha256, "");
  EXPECT_EQ(tree->at("config.json").bytes, 12U);
  EXPECT_EQ(tree->at("sub/model.safetensors").sha256, kSha256);
  EXPECT_EQ(tree->at("sub/model.safetensors").lfs_bytes, 900U);
}

TEST(HfTree, OfUpperCaseDigitsGivesLowerCase) {
  const auto tree = parse_hf_tree(tree_of("\"a\":{\"size\":1,\"lfs_sha256\":\"" + std::string(64, 'A') + "\"}"));
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->at("a").sha256, kSha256);
}

TEST(HfTree, ThatBreaksARuleIsRefused) {
  const std::string good = "\"a\":{\"size\":1,\"blob_id\":\"" + kSha1 + "\"}";
  ASSERT_TRUE(parse_hf_tree(tree_of(good)));
  for (const std::string& text : {std::string(),
                                  std::string("{}"),
                                  std::string("[]"),
                                  std::string("{\"format_version\":1}"),
                                  std::string("{\"files\":{}}"),
                                  tree_of(good, "2"),
                                  tree_of(good, "\"1\""),
                                  tree_of(good, "-1"),
                                  tree_of(good) + "x",
                                  tree_of(good).substr(0, 30),
                                  tree_of(good + "," + good),
                                  tree_of("\"../a\":{\"size\":1}"),
                                  tree_of("\"/a\":{\"size\":1}"),
                                  tree_of("\"\":{\"size\":1}"),
                                  tree_of("\"a//b\":{\"size\":1}"),
                                  tree_of("\"a/./b\":{\"size\":1}"),
                                  tree_of("\"a\":{}"),
                                  tree_of("\"a\":{\"size\":-1}"),
                                  tree_of("\"a\":{\"size\":1.5}"),
                                  tree_of("\"a\":{\"size\":18446744073709551615}"),
                                  tree_of("\"a\":{\"size\":1,\"size\":1}"),
                                  tree_of("\"a\":{\"size\":1,\"blob_id\":\"" + kSha256 + "\"}"),
                                  tree_of("\"a\":{\"size\":1,\"lfs_sha256\":\"" + kSha1 + "\"}"),
                                  tree_of("\"a\":{\"size\":1,\"lfs_sha256\":7}"),
                                  tree_of("\"a\":[]"),
                                  tree_of("\"a\":1")}) {
    const auto tree = parse_hf_tree(text);
    ASSERT_FALSE(tree) << text;
    EXPECT_EQ(tree.error().code, ErrorCode::bad_format) << text;
  }
}

// --- <path>.metadata ---------------------------------------------------------------------------------------------------------

TEST(HfDownloadNote, IsReadWithAndWithoutALastNewline) {
  for (const std::string& end : {std::string("\n"), std::string(), std::string("\r\n")}) {
    const auto note = parse_hf_download_note(kSha1 + "\n" + kSha256 + "\n1719999999.25" + end);
    ASSERT_TRUE(note) << note.error().describe();
    EXPECT_EQ(note->commit, kSha1);
    EXPECT_EQ(note->etag, kSha256);
    EXPECT_DOUBLE_EQ(note->stamp, 1719999999.25);
  }
}

TEST(HfDownloadNote, ThatBreaksARuleIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("\n\n\n"), kSha1, kSha1 + "\n" + kSha256, kSha1 + "\n" + kSha256 + "\nsoon\n", kSha1 + "\n" + kSha256 + "\ninf\n",
        kSha1 + "\n" + kSha256 + "\nnan\n", kSha1 + "\n" + kSha256 + "\n1e999\n", kSha1 + "\nW/\"x\"\n1\n", "main\n" + kSha256 + "\n1\n",
        kSha1 + "\n" + kSha256 + "\n1 2\n", kSha1 + "\n" + kSha256 + "\n1" + std::string(5000, ' ')})
    EXPECT_FALSE(parse_hf_download_note(text)) << text;
}

// --- Ollama manifests --------------------------------------------------------------------------------------------------------

std::string layer(const std::string& type, const std::string& digest, const std::string& more = "") {
  return "{\"mediaType\":\"application/vnd.ollama.image." + type + "\",\"digest\":\"" + digest + "\",\"size\":5" + more + "}";
}
std::string manifest_of(const std::string& layers, const std::string& more = "") { return "{\"schemaVersion\":2," + more + "\"layers\":" + layers + "}"; }

TEST(OllamaManifest, GivesLayersInOrderAndTheConfigLast) {
  const std::string config =
      "\"config\":{\"mediaType\":\"application/vnd.docker.container.image.v1+json\",\"digest\":\"sha256:" + std::string(64, 'c') + "\",\"size\":485},";
  const auto manifest = parse_ollama_manifest(
      manifest_of("[" + layer("model", "sha256:" + kSha256) + "," + layer("tensor", "sha256:" + kSha256, ",\"name\":\"a.weight\"") + "]", config));
  ASSERT_TRUE(manifest) << manifest.error().describe();
  ASSERT_EQ(manifest->layers.size(), 3U);
  EXPECT_EQ(manifest->layers[0].media_type, "application/vnd.ollama.image.model");
  EXPECT_EQ(manifest->layers[0].sha256, kSha256);
  EXPECT_EQ(manifest->layers[0].bytes, 5U);
  EXPECT_EQ(manifest->layers[1].name, "a.weight");
  EXPECT_EQ(manifest->layers[2].bytes, 485U);
}

TEST(OllamaManifest, MayLackAConfigAndItsDigestAndHaveNullForNoLayers) {
  EXPECT_TRUE(parse_ollama_manifest(manifest_of("[]")));
  const auto none = parse_ollama_manifest(manifest_of("null", "\"config\":{\"mediaType\":\"\",\"digest\":\"\",\"size\":0},"));
  ASSERT_TRUE(none) << none.error().describe();
  EXPECT_TRUE(none->layers.empty());
}

TEST(OllamaManifest, ThatBreaksARuleIsRefused) {
  const std::string good = layer("model", "sha256:" + kSha256);
  for (const std::string& text : {std::string(), std::string("{}"), std::string("null"), manifest_of("{}"), manifest_of("[7]"), manifest_of("[{}]"),
                                  manifest_of("[" + layer("model", "") + "]"), manifest_of("[" + layer("model", "sha256:" + kSha1) + "]"),
                                  manifest_of("[" + layer("model", "md5:" + kSha256) + "]"),
                                  manifest_of("[" + layer("model", "sha256:../../../../etc/passwd0000000000000000000000000000000000000000") + "]"),
                                  manifest_of("[" + good + "]").substr(0, 60), std::string("{\"schemaVersion\":1,\"layers\":[]}"),
                                  manifest_of("[" + layer("model", "sha256:" + kSha256, ",\"size\":6") + "]"),
                                  manifest_of("[" + layer("model", "sha256:" + kSha256, ",\"name\":7") + "]"),
                                  "{\"schemaVersion\":2,\"layers\":[{\"mediaType\":\"m\",\"digest\":\"sha256:" + kSha256 + "\",\"size\":-1}]}"}) {
    const auto manifest = parse_ollama_manifest(text);
    ASSERT_FALSE(manifest) << text;
    EXPECT_EQ(manifest.error().code, ErrorCode::bad_format) << text;
  }
}

// --- SHA256SUMS --------------------------------------------------------------------------------------------------------------

TEST(ChecksumList, IsReadInEveryForm) {
  const auto list = parse_sha256sums("\xEF\xBB\xBF# made by hand\n\n" + kSha256 + "  a b.bin\n" + kSha256 + " *sub/b\r\n" +
                                     "SHA256 (c (1).bin) = " + std::string(64, 'A') + "\n" + "\\" + kSha256 + "  d\\ne\\\\f\\r\n" + kSha256 + "\n");
  ASSERT_TRUE(list) << list.error().describe();
  EXPECT_EQ(list->odd_lines, 0U) << list->first_odd_line;
  std::vector<std::string> names;
  for (const ChecksumLine& line : list->lines) {
    names.push_back(line.file);
    EXPECT_EQ(line.sha256, kSha256);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("a b.bin", "sub/b", "c (1).bin", "d\ne\\f\r", ""));
}

TEST(ChecksumList, NamesTheLineThatIsNoChecksumAndKeepsTheOthers) {
  for (const std::string& line : {kSha1 + "  a", kSha256 + " a", kSha256 + "a", kSha256 + "  ", std::string("hello"), "SHA1 (a) = " + kSha1,
                                  "SHA256 () = " + kSha256, "SHA256 (a) = " + kSha1, "\\" + kSha256 + "  a\\tb", "\\" + kSha256 + "  a\\",
                                  kSha256 + "  a" + std::string(1, '\0') + "b", std::string(64, 'g') + "  a"}) {
    const auto list = parse_sha256sums(kSha256 + "  good\n" + line + "\n" + kSha256 + "  too\n");
    ASSERT_TRUE(list) << line;
    EXPECT_EQ(list->odd_lines, 1U) << line;
    EXPECT_THAT(list->first_odd_line, HasSubstr("line 2")) << line;
    ASSERT_EQ(list->lines.size(), 2U) << line;
    EXPECT_EQ(list->lines.back().file, "too") << line;
    const auto alone = parse_sha256sums("# a list\n" + line + "\n");
    ASSERT_FALSE(alone) << line;
    EXPECT_THAT(alone.error().message, HasSubstr("line 2")) << line;
  }
}

TEST(ChecksumList, IsKnownByItsName) {
  for (const char* name : {"SHA256SUMS", "sha256sums.txt", "SHA256SUMS.txt", "checksums.sha256", "sha256sum.txt", "model.gguf.sha256"})
    EXPECT_TRUE(is_checksum_list_name(name)) << name;
  for (const char* name : {"", ".sha256", "sha256", "MD5SUMS", "SHA256SUMS.asc", "model.sha256.bin", "sha512sums"})
    EXPECT_FALSE(is_checksum_list_name(name)) << name;
}

}  // namespace
}  // namespace vouchfs::formats
