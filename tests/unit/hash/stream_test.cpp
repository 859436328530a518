// SHA-256 of whole messages and of messages in pieces, against `sha256sum` and published examples.
#include <gtest/gtest.h>

#include "hash/sha256.h"
#include "unit/base/oracle.h"

namespace vouchfs::hash {
namespace {

TEST(Sha256, KnowsTheFips180Examples) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256(std::string(1'000'000, 'a'))), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, AgreesWithSha256sum) {
  test::TemporaryFolder folder;
  for (const std::size_t bytes : {0U, 1U, 55U, 56U, 63U, 64U, 65U, 4096U, 100'001U}) {
    const std::vector<std::uint8_t> data = test::random_bytes(bytes, bytes);
    const std::string path = folder.write("message", data);
    EXPECT_EQ(to_hex(sha256(data)), test::first_word(test::run_tool({"sha256sum", path}))) << bytes << " bytes";
  }
}

TEST(Sha256Stream, PiecesOfAnySizeGiveTheSameDigest) {
  const std::vector<std::uint8_t> data = test::random_bytes(10'000, 7);
  for (const std::size_t piece : {1U, 3U, 63U, 64U, 65U, 4096U, 9'999U, 10'000U}) {
    Sha256Stream stream;
    for (std::size_t at = 0; at < data.size(); at += piece) stream.update(std::span(data).subspan(at, std::min(piece, data.size() - at)));
    EXPECT_EQ(stream.finish(), sha256(data)) << "pieces of " << piece;
  }
}

TEST(Sha256Stream, EmptyPiecesChangeNothing) {
  Sha256Stream stream;
  stream.update({});
  stream.update(std::span(reinterpret_cast<const std::uint8_t*>("abc"), 3));
  stream.update({});
  EXPECT_EQ(stream.finish(), sha256("abc"));
}

TEST(Sha256Stream, GoesOnAfterAMove) {
  Sha256Stream first;
  first.update(std::span(reinterpret_cast<const std::uint8_t*>("ab"), 2));
  Sha256Stream second = std::move(first);
  second.update(std::span(reinterpret_cast<const std::uint8_t*>("c"), 1));
  EXPECT_EQ(second.finish(), sha256("abc"));
}

}  // namespace
}  // namespace vouchfs::hash
