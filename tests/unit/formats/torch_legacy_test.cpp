// The legacy form: five pickles and the storages behind them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/formats/torch_sample.h"

namespace vouchfs::formats::test {
namespace {

using namespace pickle;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string legacy_storage(const char* type, const char* key, std::int64_t count, const std::string& view = "N") { return storage(type, key, count, view); }
std::string two_legacy() {
  return torch_legacy(
      dict(text("a") + tensor(legacy_storage("FloatStorage", "k1", 6), {2, 3}, {3, 1}) + text("b") + tensor(legacy_storage("LongStorage", "k0", 2), {2}, {1})),
      {{"k0", std::string(16, 'y'), 8}, {"k1", std::string(24, 'x'), 4}});
}

TEST(TorchLegacy, GoodFileGivesItsTensorsFromTheStartOfTheFile) {
  const std::string file = two_legacy();
  const auto torch = read_torch(file);
  ASSERT_FALSE(torch.problem) << torch.problem->detail;
  EXPECT_EQ(torch.form, TorchForm::legacy);
  EXPECT_FALSE(torch.big_endian);
  const std::uint64_t a = file.find(std::string(24, 'x'));
  const std::uint64_t b = file.find(std::string(16, 'y'));
  EXPECT_THAT(torch.tensors, ElementsAre(Tensor{"b", "int64", {2}, b, b + 16}, Tensor{"a", "float32", {2, 3}, a, a + 24}));
}

TEST(TorchLegacy, MarkIsThatOfEveryProtocol) {
  const std::string file = two_legacy();
  EXPECT_TRUE(looks_like_torch_legacy(file));
  EXPECT_TRUE(looks_like_torch_legacy("\x80\x04\x95" + tests::little(13, 8) + file.substr(2)));
  EXPECT_FALSE(looks_like_torch_legacy(""));
  EXPECT_FALSE(looks_like_torch_legacy(file.substr(0, 6)));
  EXPECT_FALSE(looks_like_torch_legacy(file.substr(15)));  // the protocol number alone, as anything may begin
  EXPECT_FALSE(looks_like_torch_legacy(std::string("\x80\x02}q\x00.", 6)));
}

TEST(TorchLegacy, MarkIsKnownByWhatOneDamageLeavesOfItAndIsNeverGood) {
  const std::string file = two_legacy();
  for (std::size_t at = 2; at < 15; ++at) {
    for (const char* byte : {"\xFF", "x", "\x01"}) {
      const std::string damaged = patched(file, at, byte);
      EXPECT_TRUE(looks_like_torch_legacy(damaged)) << at;
      EXPECT_TRUE(read_torch(damaged).problem) << at;
      EXPECT_NE(torch_verdict(damaged), "NotTorch") << at;
    }
  }
  const auto flipped = read_torch(patched(file, 8, "x"));
  ASSERT_TRUE(flipped.problem);
  EXPECT_EQ(flipped.problem->text, "Invalid magic number; corrupt file?");
  EXPECT_THAT(flipped.problem->detail, HasSubstr("is damaged"));
  EXPECT_EQ(flipped.claimed, read_torch(file).tensors);
}

TEST(TorchLegacy, MarkIsKnownWithItsLineFeedTurnedAndBehindNoNumberAtAll) {
  const std::string file = two_legacy();
  EXPECT_EQ(torch_verdict(file.substr(0, 3) + "\r" + file.substr(3)), "UnsupportedOpcode");
  // As torch writes its protocol number: BININT2.
  const std::string as_torch = file.substr(0, 17) + "M\xE9\x03." + file.substr(file.find('.', 17) + 1);
  EXPECT_EQ(torch_verdict(as_torch), "ok");
  EXPECT_EQ(torch_verdict(patched(as_torch, 4, std::string(10, '\1'))), "BadPickle");
}

TEST(TorchLegacy, CutInTheDataSaysWhatTorchSaysAndNamesTheTensors) {
  const std::string file = two_legacy();
  const auto cut = read_torch(file.substr(0, file.size() - 5));
  ASSERT_TRUE(cut.problem);
  EXPECT_EQ(cut.problem->name, "UnexpectedEnd");
  EXPECT_EQ(cut.problem->text, "unexpected EOF, expected 5 more bytes. The file might be corrupted.");
  EXPECT_EQ(cut.problem->tensor, "a");
  EXPECT_EQ(cut.problem->offset, file.size() - 5);
  EXPECT_EQ(cut.claimed, read_torch(file).tensors);
}

TEST(TorchLegacy, CutAtEveryLengthIsUnexpectedEndOrNoTorchFile) {
  const std::string file = two_legacy();
  for (std::size_t size = 0; size < file.size(); ++size) EXPECT_EQ(torch_verdict(file.substr(0, size)), size < 8 ? "NotTorch" : "UnexpectedEnd") << size;
}

TEST(TorchLegacy, CutBeforeAStorageLosesAllThatFollow) {
  const std::string file = two_legacy();
  const auto cut = read_torch(file.substr(0, file.find(std::string(16, 'y')) - 3));
  ASSERT_EQ(cut.faults.size(), 2U);
  EXPECT_EQ(cut.claimed.size(), 2U);
  for (const HeaderProblem& fault : cut.faults) EXPECT_EQ(fault.name, "UnexpectedEnd");
}

TEST(TorchLegacy, CountThatIsNotThePicklesIsBadTensor) {
  const std::string file = two_legacy();
  const auto torch = read_torch(patched(file, file.find(std::string(24, 'x')) - 8, "\x07"));
  ASSERT_TRUE(torch.problem);
  EXPECT_EQ(torch.problem->name, "BadTensor");
  EXPECT_EQ(torch.problem->text, "storage has wrong byte size");
  EXPECT_EQ(torch.problem->tensor, "a");
}

TEST(TorchLegacy, AbsurdSizesOverflowNothing) {
  const auto huge = [](std::int64_t count) {
    return torch_legacy(
        dict(text("a") + tensor(legacy_storage("ByteStorage", "0", count), {1}, {1}) + text("b") + tensor(legacy_storage("ByteStorage", "1", count), {1}, {1})),
        {{"0", "x", 1}, {"1", "y", 1}});
  };
  EXPECT_EQ(torch_verdict(huge(INT64_MAX)), "BadTensor");
  EXPECT_EQ(torch_verdict(huge(1)), "ok");
}

TEST(TorchLegacy, ViewsAreTheirPartOfTheStorage) {
  const std::string view = tuple(text("v") + number(2) + number(3));
  const std::string file = torch_legacy(dict(text("a") + tensor(legacy_storage("FloatStorage", "0", 6, view), {2}, {1}, 1)), {{"0", std::string(24, 'x'), 4}});
  const auto torch = read_torch(file);
  ASSERT_EQ(torch.tensors.size(), 1U);
  EXPECT_EQ(torch.tensors[0].begin - file.find(std::string(24, 'x')), 12U);
  EXPECT_EQ(torch.tensors[0].bytes(), 8U);
  const std::string beyond = tuple(text("v") + number(4) + number(3));
  EXPECT_EQ(torch_verdict(torch_legacy(dict(text("a") + tensor(legacy_storage("FloatStorage", "0", 6, beyond), {2}, {1})), {{"0", std::string(24, 'x'), 4}})),
            "BadPickle");
}

TEST(TorchLegacy, TupleOfAStorageHasSixPartsAndTheLastIsAViewOrNone) {
  const auto verdict_with = [](const std::string& view) {
    return torch_verdict(torch_legacy(dict(text("a") + tensor(legacy_storage("ByteStorage", "0", 1, view), {1}, {1})), {{"0", "x", 1}}));
  };
  EXPECT_EQ(verdict_with("N"), "ok");
  EXPECT_EQ(verdict_with(""), "BadPickle");         // not enough values to unpack
  EXPECT_EQ(verdict_with("NN"), "BadPickle");       // too many values to unpack
  EXPECT_EQ(verdict_with(number(1)), "BadPickle");  // cannot unpack a number
  EXPECT_EQ(verdict_with(tuple(number(1))), "BadPickle");
}

TEST(TorchLegacy, StoragesThatAreNotListedOrBelongToNobodyAreFaults) {
  const std::string one = dict(text("a") + tensor(legacy_storage("ByteStorage", "0", 1), {1}, {1}));
  EXPECT_EQ(torch_verdict(torch_legacy(one, {})), "MissingRecord");
  EXPECT_EQ(torch_verdict(torch_legacy(one, {{"0", "x", 1}, {"1", "y", 1}})), "BadPickle");
}

TEST(TorchLegacy, ProtocolNumberMustBeTorchs) {
  std::string file = two_legacy();
  const std::size_t at = file.find(number(1001));
  const auto torch = read_torch(patched(file, at, number(1002)));
  ASSERT_TRUE(torch.problem);
  EXPECT_EQ(torch.problem->text, "Invalid protocol version: 1002");
}

TEST(TorchLegacy, ByteOrderIsThatOfTheWriter) { EXPECT_TRUE(read_torch(torch_legacy(dict(""), {}, false)).big_endian); }

TEST(TorchLegacy, GlobalsOfEveryPickleAreListed) {
  const auto torch = read_torch(torch_legacy(call("posix", "system", text("id")), {}));
  EXPECT_FALSE(torch.problem);
  ASSERT_EQ(torch.globals.size(), 1U);
  EXPECT_FALSE(torch.globals[0].allowed);
}

TEST(TorchLegacy, ClassesWithTheirSourceAreTakenAsTheClass) {
  const std::string module = tuple(text("module") + global("mine", "Net") + text("net.py") + text("class Net")) + "Q";
  EXPECT_EQ(torch_verdict(torch_legacy(module + ")\x81" + dict("") + "b", {})), "ok");
}

TEST(TorchLegacy, BytesBehindTheLastStorageAreNoFault) { EXPECT_EQ(torch_verdict(two_legacy() + "more"), "ok"); }

}  // namespace
}  // namespace vouchfs::formats::test
