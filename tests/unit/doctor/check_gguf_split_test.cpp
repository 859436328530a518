// Split GGUF models, and files that were cut only to upload them.
#include "doctor/check_gguf_names.h"
#include "support/gguf_writer.h"
#include "unit/doctor/sample_facts.h"

namespace vouchfs::doctor {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::GgufWriter;

std::string part(std::uint64_t number, std::uint64_t count, const std::string& tensor, std::uint64_t together) {
  GgufWriter writer;
  writer.key_text("general.architecture", "llama")
      .key_u16("split.no", static_cast<std::uint16_t>(number - 1))
      .key_u16("split.count", static_cast<std::uint16_t>(count));
  writer.key("split.tensors.count", tests::gguf_i32, tests::little_endian(together, 4));
  return writer.tensor(tensor, 0, {8}, 32).write();
}

TEST(GgufSplit, IsSilentAboutACompleteSet) {
  ScratchFolder folder;
  folder.put("m-00001-of-00002.gguf", part(1, 2, "a", 2));
  folder.put("m-00002-of-00002.gguf", part(2, 2, "b", 2));
  EXPECT_THAT(said(run(check_gguf_split, folder.gather())), IsEmpty());
}

TEST(GgufSplit, NamesEveryAbsentPartAndHowManyTensorsAreInThem) {
  ScratchFolder folder;
  folder.put("m-00002-of-00003.gguf", part(2, 3, "b", 7));
  const auto findings = run(check_gguf_split, folder.gather());
  EXPECT_THAT(said(findings), ElementsAre("error gguf.split_missing m-00001-of-00003.gguf", "error gguf.split_missing m-00003-of-00003.gguf"));
  EXPECT_THAT(findings.at(0).message, HasSubstr("6 tensors of 7"));
  EXPECT_THAT(findings.at(0).loader, ElementsAre(HasSubstr("failed to load GGUF split from m-00001-of-00003.gguf")));
}

TEST(GgufSplit, OfASingleFileLooksForThePartsBesideIt) {
  ScratchFolder folder;
  folder.put("m-00001-of-00002.gguf", part(1, 2, "a", 2));
  const CancelFlag cancel;
  EXPECT_THAT(said(run(check_gguf_split, *gather_file(folder.path("m-00001-of-00002.gguf"), {}, cancel))),
              ElementsAre("error gguf.split_missing m-00002-of-00002.gguf"));
  folder.put("m-00002-of-00002.gguf", part(2, 2, "b", 2));
  EXPECT_THAT(said(run(check_gguf_split, *gather_file(folder.path("m-00001-of-00002.gguf"), {}, cancel))), IsEmpty());
}

TEST(GgufSplit, RefusesPartsThatDoNotAddUp) {
  ScratchFolder folder;
  folder.put("m-00001-of-00002.gguf", part(1, 2, "a", 5));
  folder.put("m-00002-of-00002.gguf", part(2, 2, "b", 5));
  const auto findings = run(check_gguf_split, folder.gather());
  EXPECT_THAT(said(findings), ElementsAre("error gguf.split_mismatch m-00001-of-00002.gguf"));
  EXPECT_THAT(findings.at(0).message, HasSubstr("5 tensors together (split.tensors.count); they hold 2"));
}

TEST(GgufSplit, NamesATensorOfTwoParts) {
  ScratchFolder folder;
  folder.put("m-00001-of-00002.gguf", part(1, 2, "a", 2));
  folder.put("m-00002-of-00002.gguf", part(2, 2, "a", 2));
  const auto findings = run(check_gguf_split, folder.gather());
  EXPECT_THAT(said(findings), ElementsAre("error gguf.duplicate_tensor m-00002-of-00002.gguf"));
  EXPECT_THAT(findings.at(0).tensors, ElementsAre("a"));
}

TEST(GgufSplit, SaysWhenANameIsNotThatOfThePart) {
  ScratchFolder folder;
  folder.put("m-00002-of-00002.gguf", part(1, 2, "a", 2));
  const auto findings = run(check_gguf_split, folder.gather());
  EXPECT_THAT(said(findings), ElementsAre("error gguf.split_mismatch m-00002-of-00002.gguf"));
  EXPECT_EQ(findings.at(0).command, "mv " + folder.path("m-00002-of-00002.gguf") + " " + folder.path("m-00001-of-00002.gguf"));
}

TEST(GgufSplit, JudgesFoldersApart) {
  ScratchFolder folder;
  folder.put("a/m-00001-of-00002.gguf", part(1, 2, "a", 2));
  folder.put("b/m-00002-of-00002.gguf", part(2, 2, "b", 2));
  EXPECT_THAT(said(run(check_gguf_split, folder.gather())),
              ElementsAre("error gguf.split_missing a/m-00002-of-00002.gguf", "error gguf.split_missing b/m-00001-of-00002.gguf"));
}

TEST(RawPart, IsKnownByItsName) {
  for (const char* name : {"m.gguf.part2of3", "m.gguf-part-b", "m.gguf-split-b", "m.gguf.part2", "m.gguf.part-02", "m.gguf.split-ab"}) {
    const auto piece = raw_part(name);
    ASSERT_TRUE(piece) << name;
    EXPECT_EQ(piece->number, 2U) << name;
    EXPECT_EQ(piece->whole, "m.gguf") << name;
    EXPECT_EQ(raw_part_name(*piece, 2), name);
  }
  EXPECT_EQ(raw_part("m.gguf.part2of3")->count, 3U);
  EXPECT_EQ(raw_part_name(*raw_part("m.gguf.part2of3"), 3), "m.gguf.part3of3");
  EXPECT_EQ(raw_part_name(*raw_part("m.gguf.split-ab"), 27), "m.gguf.split-ba");
  for (const char* name :
       {"m.gguf", "m-00001-of-00002.gguf", "m.gguf.part", "m.gguf.tmp", ".gguf.part1", "m.gguf.part1of", "m.gguf.part1of2x", "m.bin.part1of2", "m.gguf.parts"})
    EXPECT_FALSE(raw_part(name)) << name;
}

TEST(RawPart, TellsWhetherThePiecesAreLongEnoughTogether) {
  const std::string whole = GgufWriter().key_text("general.architecture", "llama").tensor("a", 0, {1024}, 4096).write();
  ScratchFolder folder;
  folder.put("m.gguf.part1of2", whole.substr(0, 2000));
  folder.put("m.gguf.part2of2", whole.substr(2000));
  auto findings = run(check_gguf_split, folder.gather());
  EXPECT_THAT(said(findings), ElementsAre("error gguf.raw_part m.gguf.part1of2"));
  EXPECT_THAT(findings.at(0).message, HasSubstr("2 of 2 pieces here; together they are long enough"));
  EXPECT_EQ(findings.at(0).command, "cat " + folder.path() + "/m.gguf.part1of2 " + folder.path() + "/m.gguf.part2of2 > " + folder.path() + "/m.gguf");
  folder.put("m.gguf.part2of2", whole.substr(2000, 1000));
  findings = run(check_gguf_split, folder.gather());
  EXPECT_THAT(findings.at(0).message, HasSubstr("too short"));
}

TEST(RawPart, IsNoMatterOnceTheWholeIsThere) {
  ScratchFolder folder;
  folder.put("m.gguf.part1of2", "GGUF");
  folder.put("m.gguf", part(1, 1, "a", 1));
  EXPECT_THAT(said(run(check_gguf_split, folder.gather())), IsEmpty());
}

}  // namespace
}  // namespace vouchfs::doctor
