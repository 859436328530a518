// From a pickle to named tensors: names through containers, layouts in storages, element types, and tensors made of others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/formats/torch_sample.h"

namespace vouchfs::formats::test {
namespace {

using namespace pickle;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// A file of `value` with one storage "0" of 24 bytes.
TorchFile file_of_value(const std::string& value) { return read_torch(torch_zip(torch_parts(whole(value), {{"0", std::string(24, 'x')}}))); }
std::string six() { return storage("FloatStorage", "0", 6); }
std::string six_of() { return tensor(six(), {6}, {1}); }

struct Found {
  std::uint64_t begin = 0;  // from the start of the storage
  std::uint64_t end = 0;
  std::string problem;
};
Found lay_out(const std::vector<std::int64_t>& size, const std::vector<std::int64_t>& stride, std::int64_t offset = 0) {
  const auto torch = file_of_value(dict(text("x") + tensor(six(), size, stride, offset)));
  if (torch.problem) return {0, 0, torch.problem->name};
  const std::uint64_t data = record(torch, "data/0").begin;
  EXPECT_EQ(torch.tensors.size(), 1U);
  return {torch.tensors.at(0).begin - data, torch.tensors.at(0).end - data, {}};
}

TEST(TorchTensors, NamesAreJoinedThroughDictsListsAndTuples) {
  const auto torch = file_of_value(dict(text("model") + dict(text("a.weight") + six_of()) + text("state") + dict(number(0) + dict(text("exp_avg") + six_of())) +
                                        text("list") + list(six_of() + tuple("N" + six_of()))));
  EXPECT_THAT(names_of(torch.tensors), ElementsAre("list.0", "list.1.1", "model.a.weight", "state.0.exp_avg"));
}

TEST(TorchTensors, TensorSavedAloneHasAName) {
  EXPECT_THAT(names_of(file_of_value(six_of()).tensors), ElementsAre("tensor"));
  EXPECT_THAT(names_of(file_of_value(list(six_of())).tensors), ElementsAre("0"));
}

TEST(TorchTensors, KeysOfOtherTypesAndBytesAreNames) {
  const auto torch = file_of_value(dict(std::string("\x88") + six_of() + "N" + six_of() + "U\x02\xFFz" + six_of() + tuple("") + six_of()));
  EXPECT_THAT(names_of(torch.tensors), UnorderedElementsAre("True", "None", "\\xffz", "3"));
}

TEST(TorchTensors, TiedTensorIsThereUnderBothNames) {
  const auto torch = file_of_value(dict(text("a") + six_of() + "q\x01" + text("b") + "h\x01"));
  ASSERT_THAT(names_of(torch.tensors), ElementsAre("a", "b"));
  EXPECT_EQ(torch.tensors[0].begin, torch.tensors[1].begin);
  EXPECT_EQ(torch.tensors[0].end, torch.tensors[1].end);
}

TEST(TorchTensors, DictUnderTwoNamesGivesItsTensorsTwice) {
  const auto torch = file_of_value(dict(text("model") + dict(text("w") + six_of()) + "q\x01" + text("ema") + "h\x01"));
  EXPECT_THAT(names_of(torch.tensors), ElementsAre("ema.w", "model.w"));
}

TEST(TorchTensors, KeyThatComesTwiceIsItsLastValue) {
  const auto torch = file_of_value(dict(text("a") + six_of() + text("a") + tensor(six(), {2}, {1}, 3)));
  ASSERT_EQ(torch.tensors.size(), 1U);
  EXPECT_EQ(torch.tensors[0].shape, std::vector<std::uint64_t>{2});
}

TEST(TorchTensors, RangeGoesFromTheFirstToTheLastElement) {
  using Range = std::pair<std::uint64_t, std::uint64_t>;
  const auto range = [](const Found& found) { return Range(found.begin, found.end); };
  EXPECT_EQ(range(lay_out({6}, {1})), Range(0, 24));
  EXPECT_EQ(range(lay_out({2, 3}, {3, 1})), Range(0, 24));
  EXPECT_EQ(range(lay_out({3, 2}, {1, 3})), Range(0, 24)) << "transposed";
  EXPECT_EQ(range(lay_out({2}, {3}, 1)), Range(4, 20)) << "a column";
  EXPECT_EQ(range(lay_out({5, 2}, {0, 1}, 2)), Range(8, 16)) << "expanded";
  EXPECT_EQ(range(lay_out({}, {}, 5)), Range(20, 24)) << "a scalar";
}

TEST(TorchTensors, TensorWithoutElementsTakesNoBytesWhereverItBegins) {
  EXPECT_EQ(lay_out({0}, {1}).end, 0U);
  EXPECT_EQ(lay_out({3, 0, 1LL << 40}, {1, 1, 1}, 2).begin, 8U);
  EXPECT_EQ(lay_out({0}, {1}, 1000).begin, 24U);
  EXPECT_EQ(lay_out({0}, {1}, 1000).end, 24U);
}

TEST(TorchTensors, LayoutThatDoesNotFitTheStorageIsBadTensor) {
  EXPECT_EQ(lay_out({7}, {1}).problem, "BadTensor");
  EXPECT_EQ(lay_out({6}, {1}, 1).problem, "BadTensor");
  EXPECT_EQ(lay_out({2, 3}, {4, 1}).problem, "BadTensor");
  EXPECT_EQ(lay_out({2, 3}, {3}).problem, "BadTensor");
  EXPECT_EQ(lay_out({-1}, {1}).problem, "BadTensor");
  EXPECT_EQ(lay_out({2}, {-1}).problem, "BadTensor");
  EXPECT_EQ(lay_out({6}, {1}, -1).problem, "BadTensor");
  EXPECT_EQ(lay_out({1LL << 40, 1LL << 40}, {1LL << 40, 1}).problem, "BadTensor");
  EXPECT_EQ(lay_out({INT64_MAX}, {INT64_MAX}).problem, "BadTensor");
  EXPECT_EQ(lay_out({1}, {1}, INT64_MAX).problem, "BadTensor");
}

TEST(TorchTensors, BadTensorIsNamedAndTheOthersAreClaimed) {
  const auto torch = file_of_value(dict(text("good") + six_of() + text("bad") + tensor(six(), {7}, {1})));
  ASSERT_TRUE(torch.problem);
  EXPECT_EQ(torch.problem->tensor, "bad");
  EXPECT_THAT(torch.problem->detail, HasSubstr("takes bytes 0 to 28 of a storage that has 24"));
  EXPECT_THAT(names_of(torch.claimed), ElementsAre("good"));
}

TEST(TorchTensors, RecordShorterThanItsStorageIsBadTensor) {
  const auto torch =
      read_torch(torch_zip(torch_parts(whole(dict(text("x") + tensor(storage("FloatStorage", "0", 7), {2}, {1}))), {{"0", std::string(24, 'x')}})));
  ASSERT_TRUE(torch.problem);
  EXPECT_EQ(torch.problem->name, "BadTensor");
  EXPECT_EQ(torch.problem->tensor, "x");
}

TEST(TorchTensors, EveryStorageTypeHasItsElementType) {
  const std::vector<std::pair<std::string, std::string>> types = {{"DoubleStorage", "float64"},
                                                                  {"FloatStorage", "float32"},
                                                                  {"HalfStorage", "float16"},
                                                                  {"BFloat16Storage", "bfloat16"},
                                                                  {"LongStorage", "int64"},
                                                                  {"IntStorage", "int32"},
                                                                  {"ShortStorage", "int16"},
                                                                  {"CharStorage", "int8"},
                                                                  {"ByteStorage", "uint8"},
                                                                  {"BoolStorage", "bool"},
                                                                  {"QInt8Storage", "qint8"},
                                                                  {"QUInt8Storage", "quint8"},
                                                                  {"QInt32Storage", "qint32"},
                                                                  {"ComplexDoubleStorage", "complex128"},
                                                                  {"ComplexFloatStorage", "complex64"}};
  for (const auto& [type, dtype] : types) {
    const auto torch = file_of_value(dict(text("x") + tensor(storage(type, "0", 1), {1}, {1})));
    ASSERT_EQ(torch.tensors.size(), 1U) << type;
    EXPECT_EQ(torch.tensors[0].dtype, dtype);
  }
}

TEST(TorchTensors, TensorsOfUntypedStoragesTellTheirType) {
  const auto of = [](const std::string& dtype) {
    const std::string args = tuple(text("storage") + global("torch.storage", "UntypedStorage") + text("0") + text("cpu") + number(24)) + "Q" + number(1) +
                             numbers({5}) + numbers({1}) + "\x89" + dict("") + global("torch", dtype);
    return file_of_value(dict(text("x") + call("torch._utils", "_rebuild_tensor_v3", args)));
  };
  const auto torch = of("uint32");
  ASSERT_EQ(torch.tensors.size(), 1U);
  EXPECT_EQ(torch.tensors[0].dtype, "uint32");
  EXPECT_EQ(torch.tensors[0].bytes(), 20U);
  EXPECT_EQ(of("float8_e4m3fn").tensors.at(0).bytes(), 5U);
  EXPECT_EQ(of("uint64").problem->name, "BadTensor");
  EXPECT_EQ(of("float2_of_tomorrow").problem->name, "BadTensor");
}

TEST(TorchTensors, TypesBelowAByteFillTheirRows) {
  const auto of = [](std::int64_t rows, std::int64_t columns, std::int64_t bytes) {
    const std::string of_storage = storage("QUInt4x2Storage", "0", bytes);
    const auto torch =
        file_of_value(dict(text("x") + call("torch._utils", "_rebuild_qtensor",
                                            of_storage + number(0) + numbers({rows, columns}) + numbers({columns, 1}) + tuple("NNN") + "\x89N")));
    return torch.problem ? torch.problem->name : std::to_string(torch.tensors.at(0).bytes());
  };
  EXPECT_EQ(of(3, 5, 9), "9");
  EXPECT_EQ(of(3, 4, 6), "6");
  EXPECT_EQ(of(3, 5, 8), "BadTensor");
}

TEST(TorchTensors, ParametersAreTheirData) {
  EXPECT_THAT(names_of(file_of_value(dict(text("p") + call("torch._utils", "_rebuild_parameter", six_of() + "\x88N"))).tensors), ElementsAre("p"));
  EXPECT_THAT(names_of(file_of_value(dict(text("p") + call("torch.nn.parameter", "Parameter", six_of() + "\x88"))).tensors), ElementsAre("p"));
  const std::string state = dict(text("inner") + six_of());
  EXPECT_THAT(names_of(file_of_value(dict(text("p") + call("torch._utils", "_rebuild_parameter_with_state", six_of() + "\x88N" + state))).tensors),
              ElementsAre("p", "p.inner"));
}

TEST(TorchTensors, SubclassesAreWhatTheirFunctionMakes) {
  const std::string function = global("torch._utils", "_rebuild_tensor_v2") + global("mine", "Sub");
  const std::string args = tuple(six() + number(0) + numbers({6}) + numbers({1}) + "\x89N");
  EXPECT_THAT(names_of(file_of_value(dict(text("s") + call("torch._tensor", "_rebuild_from_type_v2", function + args + dict("")))).tensors), ElementsAre("s"));
}

TEST(TorchTensors, WrappersHaveNoBytesAndTheTensorsInside) {
  const std::string args = tuple(global("mine", "Packed") + global("torch", "bfloat16") + numbers({4, 4}) + numbers({4, 1}) + number(0) + "NN\x89");
  const std::string made =
      call("torch._tensor", "_rebuild_from_type_v2",
           global("torch._utils", "_rebuild_wrapper_subclass") + global("mine", "Packed") + args + dict(text("packed") + six_of() + text("note") + "N"));
  const auto torch = file_of_value(dict(text("w") + made));
  ASSERT_THAT(names_of(torch.tensors), ElementsAre("w", "w.packed"));
  EXPECT_EQ(torch.tensors[0].bytes(), 0U);
  EXPECT_EQ(torch.tensors[0].dtype, "bfloat16");
  EXPECT_EQ(torch.tensors[1].bytes(), 24U);
}

TEST(TorchTensors, MetaTensorsHaveNoBytes) {
  const auto torch = file_of_value(
      dict(text("m") + call("torch._utils", "_rebuild_meta_tensor_no_storage", global("torch", "float16") + numbers({3, 4}) + numbers({4, 1}) + "\x89")));
  ASSERT_EQ(torch.tensors.size(), 1U);
  EXPECT_EQ(torch.tensors[0], (Tensor{"m", "float16", {3, 4}, 0, 0}));
}

TEST(TorchTensors, SparseTensorsAreTheirParts) {
  const std::string size = call("torch", "Size", numbers({2, 3}));
  const auto layout = [](const char* name) { return call("torch.serialization", "_get_layout", text(name)); };
  const auto of = [&](const std::string& args) {
    return names_of(file_of_value(dict(text("s") + call("torch._utils", "_rebuild_sparse_tensor", args))).tensors);
  };
  EXPECT_THAT(of(layout("torch.sparse_coo") + tuple(six_of() + six_of() + size)), ElementsAre("s.indices", "s.values"));
  EXPECT_THAT(of(layout("torch.sparse_csr") + tuple(six_of() + six_of() + six_of() + size)), ElementsAre("s.col_indices", "s.crow_indices", "s.values"));
  EXPECT_THAT(of(layout("torch.sparse_bsc") + tuple(six_of() + six_of() + six_of() + size)), ElementsAre("s.ccol_indices", "s.row_indices", "s.values"));
}

TEST(TorchTensors, QuantizedByChannelHasItsScalesAndZeroPoints) {
  const std::string params = tuple(global("torch", "per_channel_affine") + tensor(six(), {2}, {1}) + tensor(six(), {2}, {1}, 2) + number(0));
  const auto torch =
      file_of_value(dict(text("q") + call("torch._utils", "_rebuild_qtensor", six() + number(0) + numbers({2, 3}) + numbers({3, 1}) + params + "\x89N")));
  EXPECT_THAT(names_of(torch.tensors), UnorderedElementsAre("q", "q.scales", "q.zero_points"));
}

TEST(TorchTensors, OrderedDictsOfEveryWayOfWritingAreDicts) {
  const std::string pairs = list(list(text("a") + six_of()) + tuple(text("b") + six_of()));
  EXPECT_THAT(names_of(file_of_value(call("collections", "OrderedDict", pairs)).tensors), ElementsAre("a", "b"));
  const std::string empty = call("collections", "OrderedDict", "");
  EXPECT_THAT(names_of(file_of_value(empty + "(" + text("a") + six_of() + "u" + dict(text("_metadata") + dict("")) + "b").tensors), ElementsAre("a"));
  EXPECT_THAT(names_of(file_of_value(global("mine", "Dict") + ")\x81(" + text("a") + six_of() + "u").tensors), ElementsAre("a"));
}

TEST(TorchTensors, ModulesSavedWholeAreNamedAsTheirStateDict) {
  const auto module = [](const std::string& inside) { return global("mine", "Net") + ")\x81" + dict(inside) + "b"; };
  const std::string linear =
      module(text("_parameters") + dict(text("weight") + six_of() + text("bias") + "N") + text("_buffers") + dict("") + text("_modules") + dict(""));
  EXPECT_THAT(names_of(file_of_value(module(text("training") + "\x88" + text("_modules") + dict(text("fc") + linear))).tensors), ElementsAre("fc.weight"));
}

TEST(TorchTensors, TensorsOfTheFirstVersionsGetTheirStateByBuild) {
  const std::string state = tuple(six() + number(0) + numbers({6}) + numbers({1}));
  EXPECT_THAT(names_of(file_of_value(dict(text("old") + global("torch", "FloatTensor") + ")\x81" + state + "b")).tensors), ElementsAre("old"));
}

TEST(TorchTensors, CallsThatAreNotKnownAreWalkedForTheTensorsInTheirArguments) {
  const auto torch = file_of_value(dict(text("x") + call("mine", "make", six_of() + "N" + dict(text("k") + six_of()))));
  EXPECT_THAT(names_of(torch.tensors), ElementsAre("x.0", "x.2.k"));
  EXPECT_FALSE(torch.problem);
}

TEST(TorchTensors, StoragesWithoutTensorsMustBeThereAsWell) {
  EXPECT_FALSE(file_of_value(dict(text("s") + six())).problem);
  const auto torch = file_of_value(dict(text("s") + storage("FloatStorage", "9", 6)));
  EXPECT_EQ(torch.problem->name, "MissingRecord");
  EXPECT_THAT(torch.problem->tensor, IsEmpty());
}

}  // namespace
}  // namespace vouchfs::formats::test
