// What is said of torch files, from what the reader found in them.
#include "unit/doctor/sample_facts.h"

namespace vouchfs::doctor {
namespace {

using namespace test;
using formats::HeaderProblem;
using formats::TorchFile;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

formats::Tensor tensor_at(const std::string& name, std::uint64_t begin, std::uint64_t end) { return {name, "float32", {(end - begin) / 4}, begin, end}; }

HeaderProblem problem_of(const std::string& name, const std::string& tensor = "") {
  HeaderProblem problem;
  problem.name = name;
  problem.text = "what torch prints for " + name;
  problem.detail = "what is wrong: " + name;
  problem.tensor = tensor;
  problem.offset = 64;
  return problem;
}

FileFacts torch_file(const TorchFile& torch, std::uint64_t bytes = 1000) {
  FileFacts file = file_of("pytorch_model.bin", bytes);
  file.torch = torch;
  file.is_weights = true;
  return file;
}

std::vector<Finding> container(const TorchFile& torch, std::uint64_t bytes = 1000) { return run(check_torch_container, model_of({torch_file(torch, bytes)})); }

TEST(TorchContainer, OfACutArchiveListsReadableRecordsAndLostTensors) {
  TorchFile torch;
  torch.problem = problem_of("MissingCentralDirectory");
  torch.claimed = {tensor_at("a", 100, 200), tensor_at("b", 300, 1200), tensor_at("c", 1300, 1400)};
  torch.records = {{"data.pkl", 0, 40, 50, 0, true}, {"data/0", 60, 100, 100, 0, true}, {"data/1", 260, 300, 100, 0, false}};
  const auto findings = container(torch);
  EXPECT_THAT(said(findings), ElementsAre("error torch.truncated pytorch_model.bin"));
  EXPECT_THAT(findings.at(0).tensors, ElementsAre("b", "c"));
  EXPECT_EQ(findings.at(0).offset, 1000U);
  EXPECT_THAT(findings.at(0).message, HasSubstr("2 records readable by their own headers: data.pkl, data/0;"));
  EXPECT_THAT(findings.at(0).message, HasSubstr("the other 1 whole"));
  EXPECT_THAT(findings.at(0).loader, ElementsAre("what torch prints for MissingCentralDirectory"));
}

TEST(TorchContainer, TellsAnEndOfZerosFromACut) {
  ScratchFolder folder;
  TorchFile torch;
  torch.problem = problem_of("MissingCentralDirectory");
  FileFacts file = torch_file(torch, 4000);
  file.real_path = folder.path("pytorch_model.bin");
  folder.put("pytorch_model.bin", std::string(3000, 'x') + std::string(1000, '\0'));
  auto findings = run(check_torch_container, model_of({file}));
  EXPECT_THAT(said(findings), ElementsAre("error torch.no_directory pytorch_model.bin"));
  EXPECT_EQ(findings.at(0).offset, 3000U);
  EXPECT_EQ(findings.at(0).length, 1000U);
  folder.put("pytorch_model.bin", std::string(3700, 'x') + std::string(300, '\0'));
  EXPECT_THAT(said(run(check_torch_container, model_of({file}))), ElementsAre("error torch.truncated pytorch_model.bin"));
}

TEST(TorchContainer, OfACutLegacyFileSaysHowMuchIsMissing) {
  TorchFile torch;
  torch.form = formats::TorchForm::legacy;
  torch.problem = problem_of("UnexpectedEnd");
  torch.claimed = {tensor_at("a", 100, 500), tensor_at("b", 500, 1100)};
  const auto findings = container(torch);
  EXPECT_THAT(said(findings), ElementsAre("error torch.truncated pytorch_model.bin"));
  EXPECT_EQ(findings.at(0).length, 100U);
  EXPECT_THAT(findings.at(0).tensors, ElementsAre("b"));
}

TEST(TorchContainer, SaysEachKindOfFaultOnceWithAllItsTensors) {
  TorchFile torch;
  torch.problem = problem_of("MissingRecord", "a");
  torch.faults = {problem_of("MissingRecord", "a"), problem_of("BadLocalHeader", "b"), problem_of("MissingRecord", "c")};
  const auto findings = container(torch);
  EXPECT_THAT(said(findings), ElementsAre("error torch.bad_local_header pytorch_model.bin", "error torch.record_missing pytorch_model.bin"));
  EXPECT_THAT(findings.at(1).tensors, ElementsAre("a", "c"));
}

TEST(TorchContainer, SaysOfAnArchiveWithoutADirectoryNothingOfTheRecordsThatThisHides) {
  TorchFile torch;
  torch.problem = problem_of("BadCentralDirectory");
  torch.faults = {problem_of("BadCentralDirectory"), problem_of("UnexpectedEnd", "a"), problem_of("MissingRecord", "b")};
  torch.claimed = {tensor_at("b", 500, 600)};
  const auto findings = container(torch);
  EXPECT_THAT(said(findings), ElementsAre("error torch.no_directory pytorch_model.bin"));
  EXPECT_THAT(findings.at(0).tensors, ElementsAre("b"));
}

TEST(TorchContainer, HasACodeForEveryProblemOfTheReader) {
  const std::pair<const char*, const char*> rows[] = {{"BadCentralDirectory", "torch.no_directory"}, {"RecordOutOfBounds", "torch.no_directory"},
                                                      {"MissingPickle", "torch.record_missing"},     {"BadPickle", "torch.pickle_broken"},
                                                      {"UnsupportedOpcode", "torch.pickle_broken"},  {"BadTensor", "torch.bad_tensor"}};
  for (const auto& [problem, code] : rows) {
    TorchFile torch;
    torch.problem = problem_of(problem);
    EXPECT_THAT(said(container(torch)), ElementsAre("error " + std::string(code) + " pytorch_model.bin")) << problem;
  }
}

TEST(TorchContainer, WarnsOfACompressedRecordThatTorchReadsUnlessItMapsTheFile) {
  TorchFile torch;
  torch.problem = problem_of("CompressedRecord");
  const auto findings = container(torch);
  EXPECT_THAT(said(findings), ElementsAre("warning torch.compressed_record pytorch_model.bin"));
  EXPECT_THAT(findings.at(0).loader, ElementsAre("Trying to resize storage that is not resizable"));
}

TEST(TorchContainer, TakesTorchScriptForWhatItIs) {
  TorchFile torch;
  torch.torchscript = true;
  torch.problem = problem_of("TorchScript");
  EXPECT_THAT(said(container(torch)), ElementsAre("note torch.script pytorch_model.bin"));
}

TorchFile with_globals(std::vector<formats::PickleGlobal> globals, bool tensors) {
  TorchFile torch;
  torch.globals = std::move(globals);
  if (tensors) torch.tensors = {tensor_at("a", 0, 4)};
  return torch;
}

std::vector<Finding> globals(const TorchFile& torch) { return run(check_torch_globals, model_of({torch_file(torch)})); }

TEST(TorchGlobals, AreSilentAboutAllowedOnes) {
  EXPECT_THAT(globals(with_globals({{"torch._utils", "_rebuild_tensor_v2", 10, true}, {"collections", "OrderedDict", 20, true}}, true)), IsEmpty());
}

TEST(TorchGlobals, OfAScriptsOwnClassesAreNoMatterInAScriptAlone) {
  TorchFile torch = with_globals(
      {{"__torch__", "Net", 5, false}, {"__torch__.torch.nn.modules.linear", "Linear", 7, false}, {"torch.jit._pickle", "build_intlist", 8, false}}, true);
  EXPECT_THAT(said(globals(torch)), ElementsAre("warning torch.unlisted_global pytorch_model.bin"));
  torch.torchscript = true;
  EXPECT_THAT(globals(torch), IsEmpty());
  torch.globals.push_back({"__torch__2", "Net", 9, false});
  torch.globals.push_back({"posix", "system", 11, false});
  EXPECT_THAT(said(globals(torch)),
              testing::UnorderedElementsAre("error torch.unsafe_global pytorch_model.bin", "warning torch.unlisted_global pytorch_model.bin"));
}

TEST(TorchGlobals, NameWhatReachesTheSystemAndSayThatNothingWasRun) {
  const auto findings = globals(with_globals({{"collections", "OrderedDict", 5, true}, {"posix", "system", 77, false}, {"builtins", "eval", 99, false}}, true));
  EXPECT_THAT(said(findings), ElementsAre("error torch.unsafe_global pytorch_model.bin"));
  EXPECT_EQ(findings.at(0).offset, 77U);
  EXPECT_THAT(findings.at(0).message, HasSubstr("posix.system, builtins.eval"));
  EXPECT_THAT(findings.at(0).message, HasSubstr("nothing was run"));
  EXPECT_THAT(findings.at(0).loader.at(0), HasSubstr("unsupported GLOBAL posix.system whose module posix is blocked"));
}

TEST(TorchGlobals, AreUnsafeBelowAnUnsafeModuleAndForPiecesThatBuildACall) {
  for (const auto& [module, name] : {std::pair{"os.path", "join"},
                                     {"subprocess", "Popen"},
                                     {"__builtin__", "exec"},
                                     {"builtins", "getattr"},
                                     {"operator", "attrgetter"},
                                     {"functools", "partial"},
                                     {"torch.hub", "load"},
                                     {"types", "CodeType"},
                                     {"io", "open"},
                                     {"runpy", "_run_code"}})
    EXPECT_THAT(said(globals(with_globals({{module, name, 1, false}}, true))), ElementsAre("error torch.unsafe_global pytorch_model.bin"))
        << module << "." << name;
}

TEST(TorchGlobals, AreAWarningWhenOnlyUnknownAndANoteInAFileWithoutTensors) {
  for (const auto& [module, name] : {std::pair{"my_package.models", "Config"},
                                     {"pathlib", "PosixPath"},
                                     {"argparse", "Namespace"},
                                     {"builtins", "slice"},
                                     {"io", "BytesIO"},
                                     {"osmium", "system"}}) {
    EXPECT_THAT(said(globals(with_globals({{module, name, 1, false}}, true))), ElementsAre("warning torch.unlisted_global pytorch_model.bin"))
        << module << "." << name;
    EXPECT_THAT(said(globals(with_globals({{module, name, 1, false}}, false))), ElementsAre("note torch.unlisted_global pytorch_model.bin"))
        << module << "." << name;
  }
}

TEST(TorchGlobals, OfTheStateOfATrainingRunAreANoteAndUnsafeOnesStillAnError) {
  const auto of_file = [](const char* name, const TorchFile& torch) {
    FileFacts file = torch_file(torch);
    file.path = name;
    return said(run(check_torch_globals, model_of({file})));
  };
  const TorchFile numpy = with_globals({{"numpy._core.multiarray", "_reconstruct", 5, false}}, true);
  for (const std::string name : {"rng_state.pth", "checkpoint-5/rng_state_3.pth", "optimizer.pt", "scheduler.pt", "scaler.pt", "training_args.bin"})
    EXPECT_THAT(of_file(name.c_str(), numpy), ElementsAre("note torch.unlisted_global " + name));
  EXPECT_THAT(of_file("model.pth", numpy), ElementsAre("warning torch.unlisted_global model.pth"));
  EXPECT_THAT(of_file("rng_state.pth", with_globals({{"posix", "system", 5, false}}, true)), ElementsAre("error torch.unsafe_global rng_state.pth"));
}

// ---- pickles that torch did not write, read from the disk ----

std::vector<std::string> said_of_file(const std::string& name, const std::string& bytes) {
  ScratchFolder folder;
  folder.put(name, bytes);
  return said(folder.diagnose().findings);
}

// A literal with the NUL bytes in it.
template <std::size_t N>
std::string raw(const char (&text)[N]) {
  return {text, N - 1};
}

TEST(OtherPickle, ThatWouldRunSomethingIsUnsafeUnderAnyTorchName) {
  const std::string call =
      raw("\x80\2"
          "cposix\nsystem\nq\0X\4\0\0\0"
          "echoq\1\x85q\2Rq\3.");
  for (const char* name : {"pytorch_model.bin", "evil.pt", "evil.ckpt", "training_args.bin"})
    EXPECT_THAT(said_of_file(name, call), ElementsAre(std::string("error torch.unsafe_global ") + name));
  const std::string stacked =
      raw("\x80\4\x8c\5posix\x8c\6system\x93\x8c\4"
          "echo\x85R.");
  EXPECT_THAT(said_of_file("evil.pt", stacked), ElementsAre("error torch.unsafe_global evil.pt"));
}

TEST(OtherPickle, OfTheOldestKindIsUnsafeToo) {
  EXPECT_THAT(said_of_file("evil.pt", "cos\nsystem\n(S'echo'\ntR."), testing::Contains("error torch.unsafe_global evil.pt"));
  EXPECT_THAT(said_of_file("notes.bin", "class of\nmodels\n"), testing::Not(testing::Contains(HasSubstr("global"))));
}

TEST(OtherPickle, UnderAWeightsNameIsAnotherFormatAndElsewhereNoMatter) {
  const std::string harmless =
      raw("\x80\2"
          "ccollections\nOrderedDict\nq\0)Rq\1.");
  EXPECT_THAT(said_of_file("pytorch_model.bin", harmless), ElementsAre("error content.other_format pytorch_model.bin"));
  EXPECT_THAT(said_of_file("training_args.bin", harmless), testing::Not(testing::Contains(HasSubstr("training_args.bin"))));
}

}  // namespace
}  // namespace vouchfs::doctor
