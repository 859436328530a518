#include "seal/seal_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "merkle/digest_file.h"
#include "unit/base/oracle.h"
#include "unit/seal/sample_seal.h"

namespace vouchfs::seal::test {
namespace {

using ::testing::HasSubstr;

std::span<const std::uint8_t> bytes_of(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

// A seal on disk whose manifest fits its tensor table.
class SealDirectory : public ::testing::Test {
 protected:
  SealDirectory() {
    std::filesystem::create_directory(folder_.path("tables"));
    table_.files = {{"m.safetensors", "safetensors", {{"x", "U8", {10}, 90, 100}}, std::nullopt}};
    publish();
  }
  // Writes manifest and table anew.
  void publish() {
    manifest_.files = {{"m.safetensors", 100, digest_of(1), digest_of(2)}};
    const std::string text = write_tensor_table(table_);
    manifest_.tensors_bytes = text.size();
    manifest_.tensors_fsverity = merkle::digest_bytes(bytes_of(text), *engine_);
    folder_.write(table_path(manifest_.tensors_fsverity), bytes_of(text));
    write_manifest_text(write_manifest(manifest_));
  }
  void write_manifest_text(const std::string& text) { manifest_path_ = folder_.write(kManifestName, bytes_of(text)); }
  Result<OpenedSeal> open(const std::optional<hash::Digest>& pinned = {}) { return open_seal(folder_.path(""), pinned, *engine_); }
  Error error(const std::optional<hash::Digest>& pinned = {}) {
    auto seal = open(pinned);
    EXPECT_FALSE(seal);
    return seal ? Error{} : seal.error();
  }

  vouchfs::test::TemporaryFolder folder_;
  std::shared_ptr<const hash::Sha256Engine> engine_ = hash::make_openssl_engine();
  TensorTable table_;
  Manifest manifest_;
  std::string manifest_path_;
};

TEST_F(SealDirectory, OpensAndItsModelDigestIsFsveritysOfTheManifest) {
  const auto seal = open();
  ASSERT_TRUE(seal) << seal.error().describe();
  EXPECT_EQ(seal->manifest, manifest_);
  EXPECT_EQ(seal->table.files.at(0).tensors, table_.files.at(0).tensors);
  EXPECT_EQ(seal->manifest_text, write_manifest(manifest_));
  EXPECT_EQ(seal->table_text, write_tensor_table(table_));
  EXPECT_EQ(hash::to_text(seal->model_digest), vouchfs::test::first_word(vouchfs::test::run_tool({"fsverity", "digest", manifest_path_})));
}

TEST_F(SealDirectory, PinnedDigestIsAcceptedWhenItFitsAndElseBothAreNamed) {
  const auto digest = open()->model_digest;
  EXPECT_TRUE(open(digest));
  const Error refused = error(digest_of(7));
  EXPECT_EQ(refused.code, ErrorCode::untrusted);
  EXPECT_THAT(refused.message, HasSubstr(hash::to_text(digest)));
  EXPECT_THAT(refused.message, HasSubstr(hash::to_text(digest_of(7))));
}

TEST_F(SealDirectory, PinIsCheckedBeforeTheManifestIsParsed) {
  write_manifest_text("not JSON");
  EXPECT_EQ(error(digest_of(7)).code, ErrorCode::untrusted);
  const Error unpinned = error();
  EXPECT_EQ(unpinned.code, ErrorCode::bad_format);
  EXPECT_THAT(unpinned.where.file, HasSubstr("manifest.json"));
}

TEST_F(SealDirectory, ManifestWithOtherBlanksOpensUnderItsOwnDigest) {
  write_manifest_text("\n\n" + write_manifest(manifest_));
  EXPECT_TRUE(open());
}

TEST_F(SealDirectory, NoSealIsNotFoundWithAdvice) {
  std::filesystem::remove(manifest_path_);
  EXPECT_EQ(error().code, ErrorCode::not_found);
  EXPECT_THAT(error().advice, HasSubstr("vouchfs ingest MODEL"));
  const auto nowhere = open_seal(folder_.path("nowhere"), {}, *engine_);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::not_found);
  EXPECT_THAT(nowhere.error().advice, HasSubstr("vouchfs ingest MODEL"));
  EXPECT_FALSE(open_seal(folder_.path("tables/" + hash::to_hex(manifest_.tensors_fsverity) + ".json"), {}, *engine_));
}

TEST_F(SealDirectory, EditedLongerOrLostTableIsUntrusted) {
  const std::string name = table_path(manifest_.tensors_fsverity);
  std::string text = write_tensor_table(table_);
  text[text.find("\"x\"") + 1] = 'y';
  folder_.write(name, bytes_of(text));
  EXPECT_EQ(error().code, ErrorCode::untrusted);
  EXPECT_THAT(error().message, HasSubstr(hash::to_text(manifest_.tensors_fsverity)));
  text += " ";
  folder_.write(name, bytes_of(text));
  EXPECT_EQ(error().code, ErrorCode::untrusted);
  EXPECT_THAT(error().message, HasSubstr("bytes; the manifest says"));
  std::filesystem::remove(folder_.path(name));
  EXPECT_EQ(error().code, ErrorCode::untrusted);
  EXPECT_THAT(error().advice, HasSubstr("vouchfs ingest"));
}

TEST_F(SealDirectory, TableThatDoesNotFitTheFilesIsBadFormat) {
  table_.files[0].path = "other.safetensors";
  publish();
  EXPECT_EQ(error().code, ErrorCode::bad_format);
  EXPECT_THAT(error().message, HasSubstr("'other.safetensors', which the manifest does not hold"));
  table_.files[0].path = "m.safetensors";
  table_.files[0].tensors[0].end = 101;
  publish();
  EXPECT_THAT(error().message, HasSubstr("ends past the end"));
  const TableFile whole = table_.files[0];
  table_.files[0].format = "torch";  // where the last to begin need not be the last to end
  table_.files[0].tensors = {{"wide", "uint8", {101}, 0, 101}, {"tied", "uint8", {1}, 4, 5}};
  publish();
  EXPECT_THAT(error().message, HasSubstr("'wide' ends past the end"));
  table_.files[0] = whole;
  table_.files[0].tensors[0].end = 100;
  formats::IndexRecord record;
  record.folder = "sub";
  record.file_name = "model.safetensors.index.json";
  record.members = {"m.safetensors"};
  table_.indexes = {record};
  publish();
  EXPECT_THAT(error().message, HasSubstr("'sub/m.safetensors', which the manifest does not hold"));
  table_.indexes[0].folder = "";
  publish();
  EXPECT_TRUE(open());
}

TEST(SealNames, ArePlacedByDigest) {
  const std::string hex(64, 'a');
  EXPECT_EQ(tree_path(digest_of(0xAA)), "trees/" + hex + ".tree");
  EXPECT_EQ(table_path(digest_of(0xAA)), "tables/" + hex + ".json");
  EXPECT_EQ(seal_path("m", std::nullopt), "m/.vouch");
  EXPECT_EQ(seal_path("m", "elsewhere"), "elsewhere");
}

}  // namespace
}  // namespace vouchfs::seal::test
