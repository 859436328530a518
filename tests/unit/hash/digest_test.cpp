#include "hash/digest.h"

#include <gtest/gtest.h>

namespace vouchfs::hash {
namespace {

Digest counting_digest() {
  Digest digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<std::uint8_t>(i * 8 + 7);
  return digest;
}

constexpr const char* kCountingHex = "070f171f272f373f474f575f676f777f878f979fa7afb7bfc7cfd7dfe7eff7ff";

TEST(Digest, IsWrittenAsLowerCaseHex) { EXPECT_EQ(to_hex(counting_digest()), kCountingHex); }

TEST(Digest, TextNamesTheAlgorithm) { EXPECT_EQ(to_text(counting_digest()), std::string("sha256:") + kCountingHex); }

TEST(Digest, ReadsBackWhatItWrites) {
  EXPECT_EQ(parse_hex(to_hex(counting_digest())), counting_digest());
  EXPECT_EQ(parse_text(to_text(counting_digest())), counting_digest());
}

TEST(Digest, AcceptsUpperCaseHex) {
  std::string upper = kCountingHex;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(parse_hex(upper), counting_digest());
}

TEST(Digest, RefusesWrongLengthAndForeignCharacters) {
  const std::string good = kCountingHex;
  for (const std::string& bad :
       {std::string(), good.substr(1), good + "0", good.substr(2) + "0g", good.substr(2) + " 0", "0x" + good.substr(2), good.substr(2) + "-1"}) {
    const Result<Digest> parsed = parse_hex(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(parsed.error().advice, "");
  }
}

TEST(Digest, TextWithoutOrWithAnotherAlgorithmIsRefused) {
  const std::string good = kCountingHex;
  for (const std::string& bad : {good, "sha512:" + good, "SHA256:" + good, "sha256" + good, "sha256: " + good, std::string("sha256:"), std::string()})
    EXPECT_FALSE(parse_text(bad)) << bad;
}

TEST(Digest, MessageQuotesNoMoreThanALine) {
  const Result<Digest> parsed = parse_hex(std::string(100'000, 'x'));
  ASSERT_FALSE(parsed);
  EXPECT_LT(parsed.error().message.size(), 200U);
}

}  // namespace
}  // namespace vouchfs::hash
