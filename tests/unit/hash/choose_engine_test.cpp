// Which backend is used: wishes, broken backends, slow backends. The fast backend is played by fakes that are wrong in one way each.
#include <gtest/gtest.h>

#include <functional>

#include "hash/sha256.h"

namespace vouchfs::hash {
namespace {

using Spoil = std::function<void(std::span<Digest>)>;

// Hashes right, then lets `spoil` do its harm.
class SpoiledEngine final : public Sha256Engine {
 public:
  explicit SpoiledEngine(Spoil spoil) : spoil_(std::move(spoil)) {}
  std::string_view name() const noexcept override { return "mb"; }
  void hash_many(std::span<const std::uint8_t> data, std::size_t message_bytes, std::span<Digest> out) const override {
    make_openssl_engine()->hash_many(data, message_bytes, out);
    spoil_(out);
  }

 private:
  Spoil spoil_;
};

std::shared_ptr<const Sha256Engine> spoiled(Spoil spoil) { return std::make_shared<SpoiledEngine>(std::move(spoil)); }

// Right, and several times slower than OpenSSL: it does everything again and again.
std::shared_ptr<const Sha256Engine> right_but_slow() {
  return spoiled([](std::span<Digest> out) {
    std::vector<std::uint8_t> chore(out.size() * 8 * 4096);
    for (int i = 0; i < 2 && !out.empty(); ++i) (void)sha256(chore);
  });
}

// Right, and far faster than OpenSSL on equal messages, because it hashes each only once.
class RememberingEngine final : public Sha256Engine {
 public:
  std::string_view name() const noexcept override { return "mb"; }
  void hash_many(std::span<const std::uint8_t> data, std::size_t message_bytes, std::span<Digest> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto message = data.subspan(i * message_bytes, message_bytes);
      const bool same = i != 0 && std::equal(message.begin(), message.end(), data.begin() + static_cast<std::ptrdiff_t>((i - 1) * message_bytes));
      out[i] = same ? out[i - 1] : sha256(message);
    }
  }
};

struct BrokenCase {
  const char* name;
  Spoil spoil;
};

class BrokenBackend : public testing::TestWithParam<BrokenCase> {};

TEST_P(BrokenBackend, IsReplacedByOpensslWithAWarning) {
  for (const std::optional<std::string_view> wish : {std::optional<std::string_view>(), std::optional<std::string_view>("mb")}) {
    const EngineChoice choice = choose_engine(wish, spoiled(GetParam().spoil));
    EXPECT_EQ(choice.engine->name(), "openssl");
    EXPECT_NE(choice.warning.find("wrong answer"), std::string::npos) << choice.warning;
    EXPECT_NE(choice.warning.find("mb"), std::string::npos) << choice.warning;
  }
}

TEST_P(BrokenBackend, FailsTheSelfTest) { EXPECT_FALSE(passes_self_test(*spoiled(GetParam().spoil))); }

INSTANTIATE_TEST_SUITE_P(Faults, BrokenBackend,
                         testing::Values(BrokenCase{"OneWrongBit",
                                                    [](std::span<Digest> out) {
                                                      if (!out.empty()) out[0][31] ^= 1;
                                                    }},
                                         BrokenCase{"WrongOnlyAtSeventeen",
                                                    [](std::span<Digest> out) {
                                                      if (out.size() == 17) out[16] = {};
                                                    }},
                                         BrokenCase{"WrongOnlyInTheLastOfSixtyFour",
                                                    [](std::span<Digest> out) {
                                                      if (out.size() == 64) out[63][0] ^= 0x80;
                                                    }},
                                         BrokenCase{"LanesSwapped",
                                                    [](std::span<Digest> out) {
                                                      if (out.size() > 1) std::swap(out[0], out[1]);
                                                    }},
                                         BrokenCase{"WritesOnePastTheEnd",
                                                    [](std::span<Digest> out) {
                                                      if (out.size() == 5) out.data()[5][0] ^= 1;
                                                    }}),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(ChooseEngine, WithoutAWishTheFasterOneWins) {
  const auto fast = std::make_shared<RememberingEngine>();
  const EngineChoice choice = choose_engine(std::nullopt, fast);
  EXPECT_EQ(choice.engine, fast);
  EXPECT_EQ(choice.warning, "");
}

TEST(ChooseEngine, WithoutAWishASlowerOneIsLeftOutQuietly) {
  const EngineChoice choice = choose_engine(std::nullopt, right_but_slow());
  EXPECT_EQ(choice.engine->name(), "openssl");
  EXPECT_EQ(choice.warning, "");
}

TEST(ChooseEngine, AWishForMbIsMetEvenWhereItIsSlower) {
  const auto slow = right_but_slow();
  const EngineChoice choice = choose_engine("mb", slow);
  EXPECT_EQ(choice.engine, slow);
  EXPECT_EQ(choice.warning, "");
}

TEST(ChooseEngine, AWishForOpensslIsMetEvenWhereMbIsFaster) {
  const EngineChoice choice = choose_engine("openssl", std::make_shared<RememberingEngine>());
  EXPECT_EQ(choice.engine->name(), "openssl");
  EXPECT_EQ(choice.warning, "");
}

TEST(ChooseEngine, AWishForMbWhereThereIsNoneWarns) {
  const EngineChoice choice = choose_engine("mb", nullptr);
  EXPECT_EQ(choice.engine->name(), "openssl");
  EXPECT_NE(choice.warning.find("mb"), std::string::npos);
}

TEST(ChooseEngine, AnUnknownWishWarnsAndNamesTheKnownOnes) {
  const EngineChoice choice = choose_engine("blake3", std::make_shared<RememberingEngine>());
  EXPECT_EQ(choice.engine->name(), "openssl");
  EXPECT_NE(choice.warning.find("blake3"), std::string::npos);
  EXPECT_NE(choice.warning.find("openssl, mb"), std::string::npos);
}

TEST(ChooseEngine, AnEmptyWishIsNoWish) {
  const auto fast = std::make_shared<RememberingEngine>();
  EXPECT_EQ(choose_engine("", fast).engine, fast);
}

TEST(ChooseEngine, NoFastBackendAndNoWishIsNoReasonToWarn) {
  const EngineChoice choice = choose_engine(std::nullopt, nullptr);
  EXPECT_EQ(choice.engine->name(), "openssl");
  EXPECT_EQ(choice.warning, "");
}

TEST(ChooseEngine, WishesAreMetByTheRealBackends) {
  EXPECT_EQ(choose_engine("openssl").engine->name(), "openssl");
  const EngineChoice fast = choose_engine("mb");
  EXPECT_EQ(fast.engine->name(), make_multi_buffer_engine() ? "mb" : "openssl");
  EXPECT_EQ(fast.warning.empty(), make_multi_buffer_engine() != nullptr);
}

}  // namespace
}  // namespace vouchfs::hash
