#include "formats/lfs_pointer.h"

#include <gtest/gtest.h>

namespace vouchfs::formats {
namespace {

const std::string kHex = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
const std::string kVersion = "version https://git-lfs.github.com/spec/v1\n";
const std::string kOid = "oid sha256:" + kHex + "\n";

TEST(LfsPointer, OfTheSpecificationsExampleIsRead) {
  const auto pointer = parse_lfs_pointer(kVersion + kOid + "size 12345\n");
  ASSERT_TRUE(pointer);
  EXPECT_EQ(pointer->sha256, kHex);
  EXPECT_EQ(pointer->bytes, 12345U);
}

TEST(LfsPointer, WithExtensionsOldVersionLineCarriageReturnsOrNoLastNewlineIsRead) {
  const std::string extension = "ext-0-foo sha256:" + kHex + "\n";
  EXPECT_TRUE(parse_lfs_pointer(kVersion + extension + kOid + "size 1\n"));
  EXPECT_TRUE(parse_lfs_pointer("version https://hawser.github.com/spec/v1\n" + kOid + "size 1\n"));
  EXPECT_TRUE(parse_lfs_pointer(kVersion + kOid + "size 1"));
  const auto crlf = parse_lfs_pointer("version https://git-lfs.github.com/spec/v1\r\noid sha256:" + kHex + "\r\nsize 7\r\n");
  ASSERT_TRUE(crlf);
  EXPECT_EQ(crlf->bytes, 7U);
}

TEST(LfsPointer, OfAnyOtherTextIsNone) {
  const std::string size = "size 1\n";
  for (const std::string& text : {std::string(),
                                  std::string("\n"),
                                  kVersion,
                                  kVersion + kOid,
                                  kVersion + size,
                                  kOid + size,
                                  kOid + kVersion + size,
                                  "version https://git-lfs.github.com/spec/v2\n" + kOid + size,
                                  kVersion + kVersion + kOid + size,
                                  kVersion + kOid + kOid + size,
                                  kVersion + kOid + size + size,
                                  kVersion + "oid sha256:" + kHex.substr(1) + "\n" + size,
                                  kVersion + "oid sha256:" + kHex + "0\n" + size,
                                  kVersion + "oid md5:" + kHex + "\n" + size,
                                  kVersion + "oid sha256:" + std::string(64, 'g') + "\n" + size,
                                  kVersion + kOid + "size -1\n",
                                  kVersion + kOid + "size 1x\n",
                                  kVersion + kOid + "size \n",
                                  kVersion + kOid + "size 9223372036854775808\n",
                                  kVersion + kOid + "size 99999999999999999999999\n",
                                  kVersion + kOid + size + "no blank" + std::string(1, '\0') + "\n",
                                  kVersion + kOid + size + "word\n",
                                  kVersion + kOid + size + "\n",
                                  kVersion + kOid + size + "KEY value\n",
                                  "<!DOCTYPE html>" + kVersion + kOid + size})
    EXPECT_FALSE(parse_lfs_pointer(text)) << text;
}

TEST(LfsPointer, IsUnder1024BytesLong) {
  const std::string start = kVersion + kOid + "size 1\nx ";
  EXPECT_TRUE(parse_lfs_pointer(start + std::string(1023 - start.size(), 'a')));
  EXPECT_FALSE(parse_lfs_pointer(start + std::string(1024 - start.size(), 'a')));
}

}  // namespace
}  // namespace vouchfs::formats
