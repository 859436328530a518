// Files that the seal shows mended: every byte, every page that fails, every digest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "base/units.h"
#include "hash/sha256.h"
#include "merkle/digest_file.h"
#include "unit/view/test_model.h"
#include "view/synthesized_index.h"

namespace vouchfs::view {
namespace {

using nlohmann::json;
using test::TempDir;
using testing::ElementsAre;

constexpr Caller kCaller{4711, 1000};

hash::Digest fsverity(const std::string& bytes) {
  return merkle::digest_bytes({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, *test::engine());
}

// One file "w.safetensors", sealed by hand with a fix of any pieces.
class Mended {
 public:
  Mended(const std::string& sealed, std::vector<seal::FixPiece> pieces) : sealed_(sealed) {
    seal::FileFix fix;
    fix.path = kName;
    fix.kinds = {seal::kFixBom};
    for (const seal::FixPiece& piece : pieces) shown_ += piece.literal.empty() ? sealed.substr(piece.begin, piece.end - piece.begin) : piece.literal;
    fix.pieces = std::move(pieces);
    fix.bytes = shown_.size();
    fix.fsverity = fsverity(shown_);
    fix.sha256 = hash::sha256(shown_);
    seal::TensorTable table;
    table.files = {{kName, "safetensors", {{"first", "U8", {}, 0, 3 * kBlockBytes}, {"second", "U8", {}, 3 * kBlockBytes, sealed.size()}}, std::nullopt}};
    table.fixes = {fix};
    test::seal_by_hand(model_, {{kName, sealed}}, table);
    opened_ = test::open_model(model_, KnownBadPolicy::serve);
  }
  const std::string& shown() const { return shown_; }
  SealedModel& model() const { return *opened_.model; }
  std::string file() const { return model_ + "/" + kName; }
  std::string folder() const { return model_; }

  Result<std::string> read(std::uint64_t offset, std::size_t length) const {
    AlignedBuffer buffer;
    VOUCHFS_ASSIGN(const auto bytes, model().read(0, offset, length, buffer, kCaller));
    return std::string(bytes.begin(), bytes.end());
  }
  // Pages that fail when read one by one; the others give the right bytes.
  std::set<std::uint64_t> failing() const {
    std::set<std::uint64_t> out;
    for (std::uint64_t page = 0; page < blocks_for(shown_.size()); ++page) {
      const auto bytes = read(page * kBlockBytes, kBlockBytes);
      if (!bytes)
        out.insert(page);
      else
        EXPECT_EQ(*bytes, shown_.substr(page * kBlockBytes, kBlockBytes)) << page;
    }
    return out;
  }
  std::vector<json> events() const {
    std::vector<json> out;
    std::istringstream lines(opened_.runtime->events.to_json_lines(std::nullopt));
    for (std::string line; std::getline(lines, line);) out.push_back(json::parse(line));
    return out;
  }

  static constexpr const char* kName = "w.safetensors";

 private:
  TempDir dir_;
  std::string model_ = dir_ / "model";
  std::string sealed_;
  std::string shown_;
  test::Opened opened_;
};

constexpr std::size_t kBytes = 9 * kBlockBytes + 777;

// As --fix=format makes them: 8 bytes for 8, and a block of bytes put in at `at`.
std::vector<seal::FixPiece> in_step(std::uint64_t at) { return {{"LENGTH..", 0, 0}, {"", 8, at}, {std::string(kBlockBytes, '+'), 0, 0}, {"", at, kBytes}}; }

TEST(MendedFile, GivesTheBytesOfItsPiecesAtEveryPlaceAndLength) {
  const std::string sealed = test::noise(kBytes, 1);
  for (const auto& pieces : {in_step(9), in_step(kBlockBytes), in_step(5 * kBlockBytes + 5), std::vector<seal::FixPiece>{{"", 3, kBytes}},
                             std::vector<seal::FixPiece>{{"x", 0, 0}, {"", 100, 101}, {"yz", 0, 0}, {"", 5, 6}, {"", 4000, 4200}}}) {
    const Mended file(sealed, pieces);
    EXPECT_EQ(file.read(0, file.shown().size() + 5000).value(), file.shown());
    EXPECT_EQ(file.read(file.shown().size(), 10).value(), "");
    std::mt19937_64 random(7);
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t offset = random() % file.shown().size();
      const std::size_t length = 1 + random() % (3 * kBlockBytes);
      ASSERT_EQ(file.read(offset, length).value(), file.shown().substr(offset, length)) << offset << " + " << length;
    }
    EXPECT_TRUE(file.events().empty());
  }
}

TEST(MendedFile, BadBlockFailsExactlyThePageThatStandsInStepWithIt) {
  const std::string sealed = test::noise(kBytes, 2);
  for (std::uint64_t block = 0; block < blocks_for(kBytes); ++block) {
    const Mended file(sealed, in_step(9));
    test::flip(file.file(), block * kBlockBytes + 500);
    const std::set<std::uint64_t> expected = block == 0 ? std::set<std::uint64_t>{0, 1} : std::set<std::uint64_t>{block + 1};
    EXPECT_EQ(file.failing(), expected) << block;
  }
}

TEST(MendedFile, BadBlockBehindAMarkFailsTheTwoPagesThatItsBytesFallInto) {
  const std::string sealed = test::noise(kBytes, 3);
  for (const std::uint64_t block : {0U, 4U, 9U}) {
    const Mended file(sealed, {{"", 3, kBytes}});
    test::flip(file.file(), block * kBlockBytes + 500);
    EXPECT_EQ(file.failing(), block == 0 ? std::set<std::uint64_t>{0} : (std::set<std::uint64_t>{block - 1, block})) << block;
  }
}

TEST(MendedFile, EventsNameTheBlockAndTheTensorsOfTheFileOnDisk) {
  const Mended file(test::noise(kBytes, 4), in_step(9));
  test::flip(file.file(), 5 * kBlockBytes);
  EXPECT_FALSE(file.read(6 * kBlockBytes, kBlockBytes));
  ASSERT_EQ(file.events().size(), 1U);
  const json event = file.events().front();
  EXPECT_EQ(event["file"], Mended::kName);
  EXPECT_EQ(event["block"], 5);
  EXPECT_EQ(event["offset"], 5 * kBlockBytes);
  EXPECT_EQ(event["tensors"], json({"second"}));
}

TEST(MendedFile, LiteralBytesNeedNothingFromDisk) {
  const Mended file(test::noise(kBytes, 5), in_step(9));
  for (std::uint64_t block = 0; block < blocks_for(kBytes); ++block) test::flip(file.file(), block * kBlockBytes);
  EXPECT_EQ(file.read(9, kBlockBytes).value(), std::string(kBlockBytes, '+'));
  EXPECT_FALSE(file.read(8, 2)) << "one byte of it is sealed";
}

TEST(MendedFile, HasItsOwnSizeAndDigestsInTheViewAndThoseOfBothInTheIndex) {
  const std::string sealed = test::noise(kBytes, 6);
  const Mended file(sealed, in_step(9));
  const auto mounted = test::mount_model(file.folder());
  const Node* node = mounted.at(Mended::kName);
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->bytes, file.shown().size());
  EXPECT_EQ(mounted.bytes(Mended::kName), file.shown());
  EXPECT_EQ(mounted.view->attribute(*node, "user.vouch.fsverity"), hash::to_text(fsverity(file.shown())));
  EXPECT_EQ(mounted.view->attribute(*node, "user.vouch.sha256"), hash::to_hex(hash::sha256(file.shown())));
  const json row = json::parse(root_index(file.model().seal()))["metadata"]["vouchfs"]["files"][0];
  EXPECT_EQ(row["size"], file.shown().size());
  EXPECT_EQ(row["sha256"], hash::to_hex(hash::sha256(file.shown())));
  EXPECT_EQ(row["fixes"], json({"bom"}));
  EXPECT_EQ(row["sealed"], json({{"size", kBytes}, {"sha256", hash::to_hex(hash::sha256(sealed))}, {"fsverity", hash::to_hex(fsverity(sealed))}}));
}

TEST(MendedFile, PieceThatTheFileDoesNotHaveRefusesTheSeal) {
  for (const auto& [path, end] : std::vector<std::pair<std::string, std::uint64_t>>{{"x", 101}, {"y", 100}}) {
    const TempDir dir;
    seal::TensorTable table;
    table.fixes = {{path, {seal::kFixBom}, {{"", 3, end}}, end - 3, {}, {}}};
    test::seal_by_hand(dir / "model", {{"x", std::string(100, 'x')}}, table);
    Runtime runtime(test::engine());
    ModelOptions options;
    options.model_dir = dir / "model";
    const auto opened = SealedModel::open(options, runtime);
    ASSERT_FALSE(opened) << path;
    EXPECT_EQ(opened.error().code, ErrorCode::bad_format);
  }
}

}  // namespace
}  // namespace vouchfs::view
