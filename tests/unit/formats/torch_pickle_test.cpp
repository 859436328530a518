// The symbolic machine: which opcodes it follows, what it refuses, and that nothing a pickle says makes it work or grow without end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/formats/torch_sample.h"

namespace vouchfs::formats::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(TorchPickle, EveryOpcodeOfProtocols2To5ThatMakesPlainValuesIsFollowed) {
  const std::string eight(8, '\0');
  for (const std::string& value : {std::string("N"),
                                   std::string("\x88"),
                                   std::string("\x89"),
                                   std::string("K\x01"),
                                   std::string("M\x01\x02"),
                                   std::string("J\x01\x02\x03\x04"),
                                   std::string("\x8a\x01\x7f"),
                                   std::string("\x8a\0", 2),
                                   std::string("\x8b\x02\0\0\0\x01\x02", 7),
                                   "G" + eight,
                                   std::string("X\x01\0\0\0a", 6),
                                   std::string("\x8c\x01"
                                               "a"),
                                   "\x8d\x01" + std::string(7, '\0') + "a",
                                   std::string("U\x01"
                                               "a"),
                                   std::string("T\x01\0\0\0a", 6),
                                   std::string("C\x01"
                                               "a"),
                                   std::string("B\x01\0\0\0a", 6),
                                   "\x8e\x01" + std::string(7, '\0') + "a",
                                   "\x96\x01" + std::string(7, '\0') + "a",
                                   std::string(")"),
                                   std::string("]"),
                                   std::string("}"),
                                   std::string("\x8f"),
                                   std::string("(t"),
                                   std::string("N\x85"),
                                   std::string("NN\x86"),
                                   std::string("NNN\x87"),
                                   std::string("(N\x91"),
                                   std::string("]Na"),
                                   std::string("](NNe"),
                                   std::string("\x8f(NN\x90"),
                                   std::string("}NNs"),
                                   std::string("}(NNu"),
                                   std::string("N\x94"),
                                   std::string("Nq\x07h\x07"),
                                   std::string("Nr\x07\x01\0\0j\x07\x01\0\0", 11),
                                   std::string("NN0"),
                                   std::string("N(NN1"),
                                   std::string("N(0"),
                                   std::string("N2\x86"),
                                   std::string("ca\nb\n"),
                                   std::string("\x8c\x01"
                                               "a\x8c\x01"
                                               "b\x93"),
                                   std::string("ca\nb\n)R"),
                                   std::string("ca\nb\n)\x81"),
                                   std::string("ca\nb\n)}\x92"),
                                   std::string("ca\nb\n)R}b"),
                                   "\x95" + eight + "N"})
    EXPECT_EQ(pickle_verdict(value), "ok") << ::testing::PrintToString(value);
}

TEST(TorchPickle, OpcodesOfTextPicklesAndOthersAreUnsupportedWithTorchsNumber) {
  for (const char opcode : std::string("IFLSVgpdlioP<v?A\x82\x83\x84\x97\x98\xFF")) {
    if (opcode == '\0') continue;
    const auto torch = read_pickle(pickle::whole(std::string(1, opcode) + "1\n"));
    ASSERT_TRUE(torch.problem) << opcode;
    EXPECT_EQ(torch.problem->name, "UnsupportedOpcode");
    EXPECT_EQ(torch.problem->text, "Unsupported operand " + std::to_string(static_cast<unsigned char>(opcode)));
    EXPECT_EQ(torch.problem->offset, record(torch, "data.pkl").begin + 2);
  }
}

TEST(TorchPickle, StacksMarksAndMemosThatAreEmptyAreBadPickle) {
  for (const char* value :
       {"",      "a",     "s",    "e",    "u",  "t",   "\x85", "N\x86", "NN\x87", "R",    "NR",    "b",   "Nb",   "Q",   "0",        "1",       "2",
        "q\x01", "h\x01", "\x94", "\x93", "(a", "N(s", "]N(a", "\x81",  "\x90",   "}(Nu", "N(NNu", "N(e", "]NNs", "}Na", "\x8f(NNe", "](N\x90", "NN\x93"})
    EXPECT_EQ(pickle_verdict(value), "BadPickle") << value;
}

TEST(TorchPickle, PickleCutAnywhereIsBadPickleAndSaysSo) {
  const std::string whole = pickle::whole(pickle::dict(two_entries()));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto torch = read_pickle(whole.substr(0, size));
    ASSERT_TRUE(torch.problem) << size;
    EXPECT_EQ(torch.problem->name, "BadPickle") << size;
    EXPECT_EQ(torch.problem->text, "pickle data was truncated") << size;
    EXPECT_THAT(torch.problem->detail, HasSubstr("data.pkl cannot be followed at byte"));
  }
}

TEST(TorchPickle, LengthsThatTheBytesDoNotFillCostNothing) {
  for (const std::string& value : {"X" + std::string(4, '\xFF'), "\x8d" + std::string(8, '\xFF'), "\x8b" + std::string(4, '\xFF'), "B" + std::string(4, '\xFF'),
                                   "\x96" + std::string(7, '\xFF') + "\x7F"})
    EXPECT_EQ(pickle_verdict(value), "BadPickle");
}

TEST(TorchPickle, MemoNumbersOfAnySizeCostNothing) {
  EXPECT_EQ(pickle_verdict("Nr\xFF\xFF\xFF\xFFj\xFF\xFF\xFF\xFF"), "ok");
  EXPECT_EQ(pickle_verdict("Nr\xFF\xFF\xFF\x7Fj\xFF\xFF\xFF\xFF"), "BadPickle");
}

TEST(TorchPickle, ProtocolsNewerThanAnyAreBadPickle) {
  EXPECT_FALSE(read_pickle("\x80\x05N.").problem);
  EXPECT_EQ(read_pickle("\x80\x06N.").problem->text, "unsupported pickle protocol: 6");
}

TEST(TorchPickle, NestingWithoutEndIsFollowedWithoutRecursion) {
  constexpr std::size_t kDeep = 200'000;
  EXPECT_EQ(pickle_verdict(repeated("]", kDeep) + repeated("a", kDeep - 1)), "BadPickle");  // deeper than any model
  EXPECT_EQ(pickle_verdict(repeated("]", 900) + repeated("a", 899)), "ok");
  EXPECT_EQ(pickle_verdict("N" + repeated("\x85", 900)), "ok");
  EXPECT_EQ(pickle_verdict(repeated("(", kDeep)), "BadPickle");
}

TEST(TorchPickle, ContainerWithinItselfIsFollowedOnce) {
  EXPECT_EQ(pickle_verdict("]q\x01h\x01"
                           "a"),
            "ok");
  EXPECT_EQ(pickle_verdict("}q\x01Nh\x01s"), "ok");
}

TEST(TorchPickle, ListsThatHoldEachOtherTwiceEachTimeStopAtALimit) {
  std::string value = "]q\x01";
  for (char i = 1; i < 40; ++i) value += std::string("](h") + i + "h" + i + "eq" + static_cast<char>(i + 1);
  const auto torch = read_pickle(pickle::whole(value));
  ASSERT_TRUE(torch.problem);
  EXPECT_EQ(torch.problem->name, "BadPickle");
  EXPECT_THAT(torch.problem->detail, HasSubstr("refer to each other"));
}

TEST(TorchPickle, DictsCopiedAgainAndAgainStopAtALimit) {
  std::string value = "](" + repeated("N", 100'000) + "eq\x01" + "0cbuiltins\nlist\nq\x02";
  for (int i = 0; i < 200; ++i) value += std::string("h\x02h\x01\x85R0");
  const auto torch = read_pickle(pickle::whole(value + "N"));
  ASSERT_TRUE(torch.problem);
  EXPECT_THAT(torch.problem->detail, HasSubstr("again and again"));
}

// Followed step by step these take hours: the test then ends by its time limit.
TEST(TorchPickle, ALongTupleHandedOverAgainAndAgainIsNotCopiedEachTime) {
  const std::string put_tuple = "(" + repeated("N", 300'000) + "tq\x01" + "0";
  EXPECT_EQ(pickle_verdict(put_tuple + pickle::global("a", "b") + ")R" + repeated("h\x01" + std::string("b"), 100'000)), "ok");
  for (const char* name : {"_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_qtensor", "_rebuild_from_type_v2"})
    EXPECT_EQ(pickle_verdict(put_tuple + pickle::global("torch._utils", name) + "q\x02" + repeated("h\x02h\x01R0", 100'000) + "N"), "ok") << name;
  const std::string sparse = put_tuple + pickle::global("torch._utils", "_rebuild_sparse_tensor") + "q\x02" + "Nh\x01\x86q\x03" + "0";
  EXPECT_EQ(pickle_verdict(sparse + repeated("h\x02h\x03R0", 100'000) + "N"), "ok");
}

TEST(TorchPickle, SizesOfManyDimensionsSharedByManyTensorsStopAtALimit) {
  using namespace pickle;
  const std::string sizes = tuple(repeated("K\x01", 1024)) + "q\x01" + "0";
  const std::string args = tuple(storage("FloatStorage", "0", 1) + "K" + std::string(1, '\0') + "h\x01h\x01") + "q\x02" + "0";
  const auto torch = read_pickle(whole(sizes + args + global("torch._utils", "_rebuild_tensor_v2") + "q\x03" + "](" + repeated("h\x03h\x02R", 50'000) + "e"));
  ASSERT_TRUE(torch.problem);
  EXPECT_THAT(torch.problem->detail, HasSubstr("again and again"));
}

TEST(TorchPickle, ALongKeyOfManyContainersStopsAtALimit) {
  const std::string key = pickle::text(std::string(400'000, 'k')) + "q\x01" + "0";
  for (const std::string& value : {key + "]q\x02" + "0" + pickle::dict(repeated("h\x01h\x02", 100'000)),  // beside each other
                                   key + repeated("}(h\x01", 900) + "N" + repeated("u", 900)}) {          // within each other
    const auto torch = read_pickle(pickle::whole(value));
    ASSERT_TRUE(torch.problem);
    EXPECT_THAT(torch.problem->detail, HasSubstr("more names than any model's"));
  }
}

TEST(TorchPickle, AStorageWithALongKeyIsBadPickle) {
  EXPECT_EQ(pickle_verdict(pickle::storage("FloatStorage", std::string(256, '1'), 1)), "MissingRecord");
  EXPECT_EQ(pickle_verdict(pickle::storage("FloatStorage", std::string(257, '1'), 1)), "BadPickle");
}

TEST(TorchPickle, GlobalsAreListedOnceWithTheirPlaceAndNothingIsRun) {
  const std::string call = pickle::call("posix", "system", pickle::text("touch /nowhere/ran"));
  const auto torch = read_pickle(pickle::whole(pickle::list(call + call + pickle::call("collections", "OrderedDict", ""))));
  EXPECT_FALSE(torch.problem);
  ASSERT_EQ(torch.globals.size(), 2U);
  EXPECT_EQ(torch.globals[0].module, "posix");
  EXPECT_EQ(torch.globals[0].name, "system");
  EXPECT_FALSE(torch.globals[0].allowed);
  EXPECT_EQ(torch.globals[0].offset, record(torch, "data.pkl").begin + 4);
  EXPECT_TRUE(torch.globals[1].allowed);
}

TEST(TorchPickle, GlobalsOfThe4thProtocolAreListedAsWell) {
  const auto torch = read_pickle("\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\x02id\x94\x85\x94R\x94.");
  EXPECT_FALSE(torch.problem);
  ASSERT_EQ(torch.globals.size(), 1U);
  EXPECT_EQ(torch.globals[0].name, "system");
  EXPECT_EQ(torch.restricted_opcode, 0x8C);
}

TEST(TorchPickle, GlobalsBeforeABrokenOpcodeAreListed) {
  const auto torch = read_pickle("\x80\x02" + pickle::call("posix", "system", pickle::text("id")) + "<");
  EXPECT_EQ(torch.problem->name, "UnsupportedOpcode");
  ASSERT_EQ(torch.globals.size(), 1U);
}

TEST(TorchPickle, GlobalsOfAPickleThatIsNoTorchFileAreListed) {
  const auto torch = read_torch(pickle::whole(pickle::call("posix", "system", pickle::text("id"))));
  EXPECT_EQ(torch.problem->name, "NotTorch");
  ASSERT_EQ(torch.globals.size(), 1U);
  EXPECT_EQ(torch.globals[0].module, "posix");
}

TEST(TorchPickle, NamesOfPython2AreTranslatedAsTorchDoes) {
  const auto torch = read_pickle(
      pickle::whole(pickle::list(pickle::global("__builtin__", "set") + pickle::global("__builtin__", "intern") + pickle::global("copy_reg", "x"))));
  ASSERT_EQ(torch.globals.size(), 3U);
  EXPECT_EQ(torch.globals[0].module + "." + torch.globals[0].name, "builtins.set");
  EXPECT_TRUE(torch.globals[0].allowed);
  EXPECT_EQ(torch.globals[1].module + "." + torch.globals[1].name, "sys.intern");
  EXPECT_EQ(torch.globals[2].module, "copyreg");
}

TEST(TorchPickle, NamesOfGlobalsWithoutEndOrUtf8AreBadPickle) {
  EXPECT_EQ(pickle_verdict("c" + std::string(10'000, 'x')), "BadPickle");
  EXPECT_EQ(pickle_verdict("c\xFF\nb\n"), "BadPickle");
  EXPECT_EQ(pickle_verdict("ca\n"), "BadPickle");
}

TEST(TorchPickle, TextsThatPythonCannotDecodeAreBadPickle) {
  using pickle::text;
  EXPECT_EQ(pickle_verdict(text("ty\x80\x02")), "BadPickle");
  EXPECT_EQ(pickle_verdict(text("\xED\xA0")), "BadPickle");
  EXPECT_EQ(pickle_verdict(text("\xED\xA0\x80\xFF")), "BadPickle");
  EXPECT_EQ(pickle_verdict(text("\xC3")), "BadPickle");
  EXPECT_EQ(pickle_verdict(text("\xC3\xA4 \xED\xA0\x80 \xED\xBF\xBF \xF0\x9F\x98\x80")), "ok");  // halves of pairs pass
}

TEST(TorchPickle, PersistentIdsThatAreNoStorageAreBadPickle) {
  using namespace pickle;
  for (const std::string& id : {text("x"), tuple(""), tuple(text("cache") + global("torch", "FloatStorage") + text("0") + text("cpu") + number(1)),
                                tuple(text("storage") + global("torch", "StrangeStorage") + text("0") + text("cpu") + number(1)),
                                tuple(text("storage") + global("torch", "FloatStorage") + text("0") + text("cpu") + number(-1)),
                                tuple(text("storage") + global("torch", "FloatStorage") + text("0") + text("cpu")),
                                tuple(text("storage") + global("torch", "FloatStorage") + number(0) + text("cpu") + number(1)),
                                tuple(text("storage") + global("torch", "DoubleStorage") + text("0") + text("cpu") + long_number(INT64_MAX))})
    EXPECT_EQ(pickle_verdict(id + "Q"), "BadPickle");
}

TEST(TorchPickle, FileWithoutTensorsIsWholeAndHasNone) {
  const auto torch = read_pickle(pickle::whole(pickle::dict(pickle::text("lr") + "G" + std::string(8, '\0'))));
  EXPECT_FALSE(torch.problem);
  EXPECT_THAT(torch.tensors, IsEmpty());
}

}  // namespace
}  // namespace vouchfs::formats::test
