// What a file is by its first bytes.
#include "formats/file_kind.h"

#include <string>
#include <vector>

#include "unit/formats/sample_file.h"

namespace vouchfs::formats {
namespace {

using test::file_of;

FileKind kind_of(const std::string& bytes) { return kind_of_head(bytes.substr(0, kKindBytes), bytes.size()).kind; }
std::string title_of(const std::string& bytes) { return kind_of_head(bytes, bytes.size()).title; }

TEST(FileKind, IsToldByTheMagicOfEachFormat) {
  const std::string rest(40, '\x81');
  EXPECT_EQ(kind_of("PK\x03\x04" + rest), FileKind::zip);
  EXPECT_EQ(kind_of("GGUF" + rest), FileKind::gguf);
  EXPECT_EQ(kind_of("tjgg" + rest), FileKind::ggml_old);
  EXPECT_EQ(kind_of("\x89HDF\r\n\x1a\n" + rest), FileKind::hdf5);
  EXPECT_EQ(kind_of("\x93NUMPY" + rest), FileKind::numpy);
  EXPECT_EQ(kind_of("\x1f\x8b" + rest), FileKind::gzip);
  EXPECT_EQ(kind_of("\x28\xb5\x2f\xfd" + rest), FileKind::zstd);
  EXPECT_EQ(kind_of("\x1c\x01\x02\x03TFL3" + rest), FileKind::tflite);
  EXPECT_EQ(kind_of("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46" + rest), FileKind::pickle);
  EXPECT_EQ(kind_of("\x80\x04\x95" + rest), FileKind::pickle);
  EXPECT_EQ(kind_of("\x08\x07\x12\x07pytorch" + rest), FileKind::onnx);
  EXPECT_EQ(kind_of(std::string(257, '\x01') + "ustar" + rest), FileKind::tar);
  EXPECT_EQ(kind_of(rest), FileKind::binary);
}

TEST(FileKind, NothingAndZerosAreKindsOfTheirOwn) {
  EXPECT_EQ(kind_of(""), FileKind::empty);
  EXPECT_EQ(kind_of(std::string(8, '\0')), FileKind::zeros);
  EXPECT_EQ(kind_of(std::string(8, '\0') + "x"), FileKind::binary);
}

TEST(FileKind, SafetensorsComesBeforeEveryMagic) {
  EXPECT_EQ(kind_of(test::two_tensors()), FileKind::safetensors);
  std::string json(test::kTwoTensors);
  json.resize(0x8b1f, ' ');  // the length field begins 1f 8b
  EXPECT_EQ(kind_of(file_of(json, test::zeros(40))), FileKind::safetensors);
  EXPECT_EQ(kind_of(file_of("  " + std::string(test::kTwoTensors))), FileKind::safetensors);
  EXPECT_NE(kind_of(file_of("[]")), FileKind::safetensors);
}

TEST(FileKind, TextIsReadForWhatItSays) {
  EXPECT_EQ(kind_of("version https://git-lfs.github.com/spec/v1\noid sha256:"), FileKind::lfs_pointer);
  EXPECT_EQ(kind_of("<!DOCTYPE HTML>\n<html>"), FileKind::html);
  EXPECT_EQ(kind_of("<!-- made by -->\n<html>"), FileKind::html);
  EXPECT_EQ(kind_of("<?xml version='1.0'?><Error/>"), FileKind::xml);
  EXPECT_EQ(kind_of("Entry not found"), FileKind::error_text);
  EXPECT_EQ(kind_of("once upon a time"), FileKind::text);
  EXPECT_EQ(kind_of(" {\"a\": 1}"), FileKind::json);
  EXPECT_EQ(kind_of("bell \x07 and more"), FileKind::binary);
}

TEST(FileKind, ATitleIsWhatAPersonShouldSee) {
  EXPECT_EQ(title_of("<html><head><TITLE lang=en>\n Sign in </TITLE>"), "Sign in");
  EXPECT_EQ(title_of("<html><title>never closed"), "never closed");
  EXPECT_EQ(title_of("{\"error\": \"Access denied\"}"), "Access denied");
  EXPECT_EQ(title_of("{\"errors\": [{\"message\": \"Bad token\"}]}"), "Bad token");
  EXPECT_EQ(title_of("Invalid username or password.\n"), "Invalid username or password.");
  EXPECT_LE(title_of("<title>" + std::string(5000, 'x')).size(), 200U);
}

TEST(FileKind, AMarkIsTakenOffAndRemembered) {
  const KindOfFile found = kind_of_head("\xEF\xBB\xBF<html>", 9);
  EXPECT_TRUE(found.bom);
  EXPECT_EQ(found.kind, FileKind::html);
  EXPECT_FALSE(kind_of_head("<html>", 6).bom);
}

TEST(FileKind, EveryKindHasAWordAndWords) {
  for (int kind = 0; kind <= static_cast<int>(FileKind::binary); ++kind) {
    const auto one = static_cast<FileKind>(kind);
    EXPECT_EQ(std::string(to_string(one)) == "binary", one == FileKind::binary);
    EXPECT_GT(std::string(in_words(one)).size(), 4U);
  }
}

// A character that the end of the head cuts is no damage.
TEST(FileKind, TextMayEndInsideACharacter) {
  const std::string text = std::string(kKindBytes - 1, 'x') + "\xC3\xA9 more";
  EXPECT_EQ(kind_of(text), FileKind::text);
}

}  // namespace
}  // namespace vouchfs::formats
