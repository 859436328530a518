#include "merkle/digest_file.h"

#include <gtest/gtest.h>

#include "unit/base/oracle.h"
#include "unit/merkle/pattern.h"

namespace vouchfs::merkle {
namespace {

std::shared_ptr<const hash::Sha256Engine> engine() { return hash::make_openssl_engine(); }

TEST(DigestStream, ShortReadsGiveTheSameDigest) {
  const std::vector<std::uint8_t> bytes = test::random_bytes(3'000'000, 31);
  for (const Parameters& parameters : {Parameters{}, Parameters{Algorithm::sha256, 1024, {1, 2, 3}}})
    for (const std::size_t piece : {4095UL, 100'000UL, 1UL << 20})
      EXPECT_EQ(digest_stream(bytes.size(), parameters, test::reader_of(bytes, piece), engine()), test::digest_of(bytes, parameters)) << piece;
}

TEST(DigestStream, AnEmptySaltEqualsNoSalt) {
  const std::vector<std::uint8_t> bytes = test::random_bytes(70'000, 32);
  EXPECT_EQ(test::digest_of(bytes, {Algorithm::sha256, 4096, {}}), test::digest_of(bytes));
}

TEST(DigestStream, AnotherNumberOfBytesIsAChangedFile) {
  const std::vector<std::uint8_t> bytes = test::random_bytes(10'000, 33);
  for (const Parameters& parameters : {Parameters{}, Parameters{Algorithm::sha256, 1024, {}}}) {
    for (const std::uint64_t announced : {0ULL, 9'999ULL, 10'001ULL, 50'000'000ULL}) {
      const Result<std::string> digest = digest_stream(announced, parameters, test::reader_of(bytes), engine());
      ASSERT_FALSE(digest) << announced;
      EXPECT_EQ(digest.error().code, ErrorCode::changed);
    }
  }
}

// A file that somebody keeps appending to must not be followed forever.
TEST(DigestStream, AFileThatNeverEndsIsLeftEarly) {
  for (const Parameters& parameters : {Parameters{}, Parameters{Algorithm::sha256, 1024, {}}}) {
    std::size_t given = 0;
    const ByteReader endless = [&given](std::span<std::uint8_t> out) -> Result<std::size_t> {
      given += out.size();
      if (given > 64 << 20) return fail(ErrorCode::io, "read on and on");
      return out.size();
    };
    const Result<std::string> digest = digest_stream(10'000, parameters, endless, engine());
    ASSERT_FALSE(digest);
    EXPECT_EQ(digest.error().code, ErrorCode::changed);
  }
}

TEST(DigestStream, AFailingReadIsHandedOn) {
  const ByteReader broken = [](std::span<std::uint8_t>) -> Result<std::size_t> { return fail(ErrorCode::io, "the disk is gone"); };
  for (const Parameters& parameters : {Parameters{}, Parameters{Algorithm::sha512, 4096, {}}}) {
    const Result<std::string> digest = digest_stream(100, parameters, broken, engine());
    ASSERT_FALSE(digest);
    EXPECT_EQ(digest.error().message, "the disk is gone");
  }
}

TEST(DigestStream, ParametersOutOfRangeAreRefused) {
  const std::vector<std::uint8_t> none;
  const std::vector<Parameters> bad = {{Algorithm::sha256, 0, {}},
                                       {Algorithm::sha256, 32, {}},
                                       {Algorithm::sha256, 4095, {}},
                                       {Algorithm::sha256, 6144, {}},
                                       {Algorithm::sha512, 64, {}},
                                       {Algorithm::sha256, 2 << 20, {}},
                                       {Algorithm::sha256, 4096, std::vector<std::uint8_t>(33)},
                                       {Algorithm::sha256, 1ULL << 63, {}}};
  for (const Parameters& parameters : bad) {
    const Result<std::string> digest = digest_stream(0, parameters, test::reader_of(none), engine());
    ASSERT_FALSE(digest) << parameters.block_bytes;
    EXPECT_EQ(digest.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(digest.error().advice, "");
  }
}

TEST(DigestBytes, EqualsTheStreamedDigest) {
  for (const std::size_t size : {0U, 1U, 4096U, 4097U, 600'000U}) {
    const std::vector<std::uint8_t> bytes = test::random_bytes(size, 34);
    EXPECT_EQ(hash::to_text(digest_bytes(bytes, *engine())), test::digest_of(bytes));
  }
}

}  // namespace
}  // namespace vouchfs::merkle
