// The archive around a torch file: end records, the central directory, local headers, records and what is left of a cut one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "unit/formats/torch_sample.h"

namespace vouchfs::formats::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

std::size_t directory_of(const std::string& file) { return file.find("PK\x01\x02"); }
// Where the central header of `name` begins.
std::size_t central(const std::string& file, std::string_view name) { return file.rfind("PK\x01\x02", file.rfind("archive/" + std::string(name))); }

TEST(TorchZip, GoodFileGivesTensorsAndRecordsFromTheStartOfTheFile) {
  const std::string file = torch_zip(two_parts());
  const auto torch = read_torch(file);
  ASSERT_FALSE(torch.problem) << torch.problem->detail;
  EXPECT_EQ(torch.form, TorchForm::zip);
  EXPECT_TRUE(torch.checksums);
  EXPECT_FALSE(torch.torchscript);
  const std::uint64_t a = file.find(std::string(24, 'x'));
  const std::uint64_t b = file.find(std::string(16, 'y'));
  EXPECT_THAT(torch.tensors, ElementsAre(Tensor{"a", "float32", {2, 3}, a, a + 24}, Tensor{"b", "int64", {2}, b, b + 16}));
  EXPECT_EQ(torch.records.size(), 6U);
  EXPECT_EQ(record(torch, "data/1").begin, b);
  EXPECT_EQ(record(torch, "data/1").bytes, 16U);
  EXPECT_EQ(record(torch, "data.pkl").header_offset, 0U);
  for (const TorchRecord& record : torch.records) EXPECT_TRUE(record.usable && record.stored) << record.name;
}

TEST(TorchZip, ArchiveOfAnyFolderWithOrWithoutZip64AndCommentIsRead) {
  EXPECT_EQ(torch_verdict(torch_zip(two_parts(), {"pytorch_model", true, true, {}})), "ok");
  EXPECT_EQ(torch_verdict(torch_zip(two_parts(), {"archive", true, false, {}})), "ok");
  EXPECT_EQ(torch_verdict(torch_zip(two_parts(), {"archive", true, true, "a comment"})), "ok");
  EXPECT_EQ(torch_verdict(torch_zip(two_parts(), {"archive", true, true, "PK\x05\x06 that looks like an end record"})), "ok");
}

TEST(TorchZip, BytesBehindTheArchiveAreNoFault) {
  EXPECT_EQ(torch_verdict(torch_zip(two_parts()) + std::string(1000, '\0')), "ok");
  EXPECT_EQ(torch_verdict(torch_zip(two_parts()) + "PK\x05\x06" + std::string(18, '\xFF')), "ok");
  EXPECT_EQ(torch_verdict(torch_zip(two_parts()) + std::string(70'000, '\0')), "MissingCentralDirectory");
}

TEST(TorchZip, ChecksumsThatTheWriterLeftOutAreToldFromTrueOnes) {
  const auto without = read_torch(torch_zip(two_parts(), {"archive", false, true, {}}));
  EXPECT_FALSE(without.problem);
  EXPECT_FALSE(without.checksums);
  EXPECT_THAT(without.records, Each(Field(&TorchRecord::crc32, 0U)));
}

TEST(TorchZip, CutByOneByteLosesTheDirectoryAndFindsEveryRecordFromTheFront) {
  const std::string file = torch_zip(two_parts());
  const auto whole = read_torch(file);
  const auto cut = read_torch(file.substr(0, file.size() - 1));
  ASSERT_TRUE(cut.problem);
  EXPECT_EQ(cut.problem->name, "MissingCentralDirectory");
  EXPECT_EQ(cut.problem->text, "PytorchStreamReader failed reading zip archive: failed finding central directory");
  EXPECT_EQ(cut.faults.size(), 1U);
  EXPECT_EQ(cut.claimed, whole.tensors);
  ASSERT_EQ(cut.records.size(), whole.records.size());
  for (std::size_t i = 0; i < cut.records.size(); ++i) {
    EXPECT_EQ(cut.records[i].name, whole.records[i].name);
    EXPECT_EQ(cut.records[i].begin, whole.records[i].begin);
    EXPECT_EQ(cut.records[i].bytes, whole.records[i].bytes);
    EXPECT_EQ(cut.records[i].crc32, whole.records[i].crc32);
  }
}

TEST(TorchZip, CutInsideAStorageNamesTheTensorsThatAreLostAndThoseThatAreNot) {
  const std::string file = torch_zip(two_parts());
  const auto whole = read_torch(file);
  const std::uint64_t inside = whole.tensors[1].begin + 7;
  const auto cut = read_torch(file.substr(0, static_cast<std::size_t>(inside)));
  EXPECT_EQ(cut.claimed, whole.tensors) << "where b should be is known as well";
  ASSERT_EQ(cut.faults.size(), 2U);
  EXPECT_EQ(cut.faults[1].name, "UnexpectedEnd");
  EXPECT_EQ(cut.faults[1].tensor, "b");
  EXPECT_EQ(cut.faults[1].offset, inside);
  EXPECT_THAT(cut.faults[1].detail, HasSubstr("after 7 of its 16 bytes"));
  EXPECT_FALSE(record(cut, "data/1").usable);
  EXPECT_TRUE(record(cut, "data/0").usable);
}

TEST(TorchZip, CutBeforeAStorageReportsItsRecordMissing) {
  const std::string file = torch_zip(two_parts());
  const auto whole = read_torch(file);
  const auto cut = read_torch(file.substr(0, static_cast<std::size_t>(record(whole, "data/1").header_offset) + 10));
  EXPECT_THAT(names_of(cut.claimed), ElementsAre("a"));
  ASSERT_EQ(cut.faults.size(), 2U);
  EXPECT_EQ(cut.faults[1].name, "MissingRecord");
  EXPECT_EQ(cut.faults[1].tensor, "b");
}

// A local header with a descriptor behind `content`, as torch writes it, but of no name that the pickle knows.
std::string member_of_unknown_size(const std::string& content) {
  using tests::little;
  const std::string sizes = little(content.size(), 4) + little(content.size(), 4);
  return "PK\x03\x04" + little(20, 2) + little(8, 2) + std::string(18, '\0') + little(3, 2) + little(0, 2) + "a/b" + content + "PK\x07\x08" + little(0, 4) +
         sizes;
}

TEST(TorchZip, MembersWhoseSizeOnlyADescriptorTellsCostAFewReadsOfTheFile) {
  std::string file;
  for (int i = 0; i < 20'000; ++i) file += member_of_unknown_size({});
  std::uint64_t bytes_read = 0;
  const ReadAt inner = reader_of(file);
  const auto torch = read_torch_file(file.size(), [&](std::uint64_t offset, std::span<std::uint8_t> dst) {
    bytes_read += dst.size();
    return inner(offset, dst);
  });
  ASSERT_TRUE(torch);
  EXPECT_EQ(torch->records.size(), 20'000U);
  EXPECT_LT(bytes_read, 100 * file.size()) << "a scan looks at 4096 bytes before it looks further";
}

TEST(TorchZip, DescriptorIsFoundWhereverItLies) {
  for (const std::size_t bytes : {0U, 1U, 4070U, 4079U, 4080U, 4092U, 4093U, 4096U, 8180U, 60'000U, (1U << 20) - 24}) {
    const std::string file = member_of_unknown_size(std::string(bytes, 'x')) + member_of_unknown_size("last");
    const auto torch = read_torch(file);
    ASSERT_EQ(torch.records.size(), 2U) << bytes;
    EXPECT_EQ(torch.records[0].bytes, bytes);
    EXPECT_EQ(torch.records[1].bytes, 4U);
  }
  EXPECT_EQ(read_torch(member_of_unknown_size(std::string(1U << 20, 'x')) + member_of_unknown_size("last")).records.size(), 1U) << "past the limit of a scan";
}

TEST(TorchZip, CutAtEveryLengthIsRefusedAndKeepsWhatIsWhole) {
  const std::string file = torch_zip(two_parts());
  const auto whole = read_torch(file);
  for (std::size_t size = 4; size < file.size(); ++size) {
    const auto cut = read_torch(file.substr(0, size));
    ASSERT_TRUE(cut.problem) << size;
    for (const Tensor& tensor : whole.tensors)
      if (size >= tensor.end) {
        EXPECT_THAT(cut.claimed, Contains(tensor)) << size;
      }
    for (const TorchRecord& record : cut.records) EXPECT_TRUE(!record.usable || record.begin + record.bytes <= size) << record.name << " at " << size;
  }
}

TEST(TorchZip, CutArchiveOfAnotherProgramListsTheSizesOfItsHeaders) {
  const std::string header =
      std::string("PK\x03\x04") + std::string(14, '\0') + tests::little(3, 4) + tests::little(3, 4) + tests::little(5, 2) + tests::little(0, 2) + "a/one";
  const auto torch = read_torch(header + "abc" + header + "x");
  ASSERT_EQ(torch.records.size(), 2U);
  EXPECT_EQ(torch.records[0].bytes, 3U);
  EXPECT_TRUE(torch.records[0].usable);
  EXPECT_FALSE(torch.records[1].usable);
}

TEST(TorchZip, StoredRecordOfACutArchiveWithTwoSizesIsNotReadByEither) {
  const std::string file = torch_zip(two_parts());
  const std::string cut = file.substr(0, file.size() - 1);
  for (const std::string_view name : {"data.pkl", "byteorder", "data/1"}) {
    SCOPED_TRACE(name);
    const TorchRecord whole = record(read_torch(file), name);
    const std::string sizes = tests::little(whole.bytes, 4) + tests::little(0x7FFFFFFF, 4);
    const auto torch = read_torch(patched(cut, static_cast<std::size_t>(whole.header_offset) + 18, sizes));
    EXPECT_FALSE(record(torch, name).usable);
    EXPECT_THAT(torch.faults, Contains(AllOf(Field(&HeaderProblem::name, "BadLocalHeader"), Field(&HeaderProblem::detail, HasSubstr("two sizes")),
                                             Field(&HeaderProblem::offset, whole.header_offset))));
    EXPECT_TRUE(record(torch, "version").usable) << "the walk goes on behind it";
  }
}

TEST(TorchZip, MissingStorageIsMissingRecordWithItsTensor) {
  auto parts = two_parts();
  parts.erase(std::find_if(parts.begin(), parts.end(), [](const TorchPart& part) { return part.name == "data/1"; }));
  const auto torch = read_torch(torch_zip(parts));
  ASSERT_TRUE(torch.problem);
  EXPECT_EQ(torch.problem->name, "MissingRecord");
  EXPECT_EQ(torch.problem->text, "PytorchStreamReader failed locating file data/1: file not found");
  EXPECT_EQ(torch.problem->tensor, "b");
  EXPECT_THAT(names_of(torch.claimed), ElementsAre("a"));
}

TEST(TorchZip, MissingPickleIsMissingPickle) {
  EXPECT_EQ(torch_verdict(torch_zip({{"word/document.xml", "<x/>"}})), "MissingPickle");
  EXPECT_EQ(torch_verdict(torch_zip({})), "NotTorch") << "an archive without members begins with its end record";
}

TEST(TorchZip, LocalHeaderThatDoesNotFitTheDirectoryIsBadLocalHeaderWithTensorAndPlace) {
  const std::string file = torch_zip(two_parts());
  const std::uint64_t at = record(read_torch(file), "data/0").header_offset;
  const auto header = static_cast<std::size_t>(at);
  for (const auto& [offset, bytes] : std::vector<std::pair<std::size_t, std::string>>{
           {0, "X"}, {8, "\x08"}, {14, "\x01"}, {18, "\x01"}, {22, "\x01"}, {26, "\xFF"}, {30, "b"}, {26, std::string(2, '\0')}}) {
    const auto torch = read_torch(patched(file, header + offset, bytes));
    ASSERT_TRUE(torch.problem) << offset;
    EXPECT_EQ(torch.problem->name, "BadLocalHeader") << offset;
    EXPECT_EQ(torch.problem->tensor, "a") << offset;
    EXPECT_EQ(torch.problem->offset, at) << offset;
    EXPECT_THAT(names_of(torch.claimed), ElementsAre("b")) << offset;
    EXPECT_FALSE(record(torch, "data/0").usable);
  }
}

TEST(TorchZip, RecordThatPassesTheDirectoryIsRecordOutOfBounds) {
  const std::string file = torch_zip(two_parts());
  const std::size_t header = central(file, "data/1");
  const std::string size = tests::little(1U << 30, 4);
  EXPECT_EQ(torch_verdict(patched(patched(file, header + 20, size), header + 24, size)), "RecordOutOfBounds");
  // A longer extra field in the local header moves the content behind the start of the directory, or of the file's end.
  const auto local = static_cast<std::size_t>(record(read_torch(file), "data/1").header_offset);
  const std::size_t extra = directory_of(file) - (local + 30 + std::string_view("archive/data/1").size());
  EXPECT_EQ(torch_verdict(patched(file, local + 28, tests::little(extra - 15, 2))), "RecordOutOfBounds");
  EXPECT_EQ(torch_verdict(patched(file, local + 28, tests::little(extra + 1, 2))), "RecordOutOfBounds");
  EXPECT_EQ(torch_verdict(patched(file, local + 28, "\xFF\x0F")), "BadLocalHeader");
}

TEST(TorchZip, OverlapsAndNamesThatComeTwiceAreBadCentralDirectory) {
  auto parts = two_parts();
  parts.push_back({"data/1", std::string(16, 'z')});
  EXPECT_EQ(torch_verdict(torch_zip(parts)), "BadCentralDirectory");
  std::string file = torch_zip({{"data.pkl", pickle::whole(pickle::dict(""))}, {"data/0", std::string(300, 'x')}});
  const std::string size = tests::little(file.find("PK\x01\x02") - file.find(std::string(300, 'x')), 4);
  const std::size_t header = central(file, "data.pkl");  // grows over data/0
  file = patched(patched(file, header + 20, size), header + 24, size);
  EXPECT_NE(torch_verdict(file), "ok");
}

TEST(TorchZip, CompressedStorageOrPickleIsCompressedRecord) {
  const std::string file = torch_zip(two_parts());
  for (const char* name : {"data.pkl", "data/0", "version"}) {
    const auto local = static_cast<std::size_t>(record(read_torch(file), name).header_offset);
    const std::string encrypted = patched(patched(file, local + 6, "\x09"), central(file, name) + 8, "\x09");
    EXPECT_EQ(torch_verdict(encrypted), "BadCentralDirectory") << name;
    EXPECT_EQ(torch_verdict(patched(file, central(file, name) + 9, "\x28")), "BadCentralDirectory") << name << " with its header masked";
    if (name == std::string_view("version")) continue;
    const std::string deflated = patched(patched(file, local + 8, "\x08"), central(file, name) + 10, "\x08");
    EXPECT_EQ(torch_verdict(deflated), "CompressedRecord") << name;
    EXPECT_FALSE(record(read_torch(deflated), name).stored);
  }
  const auto version = static_cast<std::size_t>(record(read_torch(file), "version").header_offset);
  EXPECT_EQ(torch_verdict(patched(patched(file, version + 8, "\x08"), central(file, "version") + 10, "\x08")), "ok") << "nobody needs it";
}

TEST(TorchZip, CutRecordIsToldByTheSizeItTakesInTheFile) {
  const std::string file = torch_zip(two_parts());
  const auto local = static_cast<std::size_t>(record(read_torch(file), "data/0").header_offset);
  // Its header has a size packed and none unpacked, and the archive no directory.
  const std::string cut = patched(file, local + 18, tests::little(0x10000, 4)).substr(0, directory_of(file));
  const auto torch = read_torch(cut);
  const auto found = std::find_if(torch.faults.begin(), torch.faults.end(), [](const HeaderProblem& fault) { return fault.name == "UnexpectedEnd"; });
  ASSERT_NE(found, torch.faults.end());
  EXPECT_THAT(found->detail, testing::HasSubstr("of its 65536 bytes"));
}

TEST(TorchZip, RecordMarkedAsAFolderIsBadCentralDirectory) {
  const std::string file = torch_zip(two_parts());
  for (const char* name : {"data.pkl", "data/0"}) {
    const auto torch = read_torch(patched(file, central(file, name) + 38, "\x10"));
    ASSERT_TRUE(torch.problem) << name;
    EXPECT_EQ(torch.problem->name, "BadCentralDirectory") << name;
    EXPECT_THAT(torch.problem->detail, testing::HasSubstr("marked as a folder")) << name;
    EXPECT_EQ(torch_verdict(patched(file, central(file, name) + 38, "\x20")), "ok") << name << " as MS-DOS programs mark every file";
  }
  // Folders of their own, as zip programs write them, hold nothing.
  auto parts = two_parts();
  parts.push_back({"data/", ""});
  EXPECT_EQ(torch_verdict(torch_zip(parts)), "ok");
}

TEST(TorchZip, DirectoryThatCannotBeIsBadCentralDirectory) {
  const std::string file = torch_zip(two_parts(), {"archive", true, false, {}});
  const std::size_t end = file.size() - 22;
  EXPECT_EQ(torch_verdict(patched(file, end + 16, "\xFF\xFF\xFF\x7F")), "BadCentralDirectory");  // its offset
  EXPECT_EQ(torch_verdict(patched(file, end + 12, "\xFF\xFF\xFF\x7F")), "BadCentralDirectory");  // its size
  EXPECT_EQ(torch_verdict(patched(file, end + 10, "\xFF\x7F")), "BadCentralDirectory");          // its entries
  EXPECT_EQ(torch_verdict(patched(file, end + 10, "\x07")), "BadCentralDirectory");              // one entry too many
  EXPECT_EQ(torch_verdict(patched(file, directory_of(file), "X")), "BadCentralDirectory");
  EXPECT_EQ(torch_verdict(patched(file, directory_of(file) + 28, "\xFF\xFF")), "BadCentralDirectory");  // the length of a name
}

TEST(TorchZip, ArchivesOverSeveralDisksAreBadCentralDirectory) {
  const std::string file = torch_zip(two_parts(), {"archive", true, false, {}});
  const std::size_t end = file.size() - 22;
  for (const std::size_t at : {std::size_t{4}, std::size_t{6}, std::size_t{8}})
    EXPECT_EQ(torch_verdict(patched(file, end + at, "\x02")), "BadCentralDirectory") << at;
  EXPECT_EQ(torch_verdict(patched(file, directory_of(file) + 34, "\x02")), "BadCentralDirectory");
  const std::string in_64 = torch_zip(two_parts());
  const std::size_t end_64 = in_64.size() - 22 - 20 - 56;
  // The same numbers of zip64, its signature, and where the locator says it is.
  for (const std::size_t at :
       {std::size_t{4}, std::size_t{16}, std::size_t{20}, std::size_t{24}, std::size_t{56 + 16}, std::size_t{0}, std::size_t{56 + 8}, std::size_t{56 + 15}})
    EXPECT_EQ(torch_verdict(patched(in_64, end_64 + at, "\x03")), "BadCentralDirectory") << at;
}

TEST(TorchZip, Zip64NumbersAreTakenWhereTheOthersAreFull) {
  std::string file = torch_zip({{"data.pkl", pickle::whole(pickle::dict(""))}}, {"archive", true, false, {}});
  const std::size_t header = directory_of(file);
  const std::string sizes = file.substr(header + 24, 4);
  const std::string extra = tests::little(1, 2) + tests::little(24, 2) + tests::little(file.find("PK\x07\x08") - 64, 8) +
                            tests::little(file.find("PK\x07\x08") - 64, 8) + tests::little(0, 8);
  std::string directory = file.substr(header, file.size() - 22 - header);
  directory.replace(20, 8, 8, '\xFF');
  directory.replace(30, 2, tests::little(extra.size(), 2));
  directory.replace(42, 4, 4, '\xFF');
  std::string end = file.substr(file.size() - 22);
  end.replace(12, 4, tests::little(directory.size() + extra.size(), 4));
  const std::string in_64 = file.substr(0, header) + directory + extra + end;
  EXPECT_EQ(torch_verdict(in_64), "ok") << sizes.size();
  EXPECT_EQ(torch_verdict(file.substr(0, header) + directory + extra.substr(0, 20) + end), "BadCentralDirectory");
}

std::string zip_of_storage(std::string_view view, std::string_view location) {
  const std::string tensor = pickle::tensor(pickle::storage("ByteStorage", "0", 1, view, location), {1}, {1});
  return torch_zip(torch_parts(pickle::whole(pickle::dict(pickle::text("a") + tensor)), {{"0", "x"}}));
}

TEST(TorchZip, TupleOfAStorageHasFiveParts) {
  EXPECT_EQ(torch_verdict(zip_of_storage("", "cpu")), "ok");
  EXPECT_EQ(torch_verdict(zip_of_storage("N", "cpu")), "BadPickle");  // torch: too many values to unpack
}

TEST(TorchZip, StorageIsOfADeviceThatTorchCanKnow) {
  for (const char* good :
       {"cpu", "meta", "cuda:0", "cuda:15", "cuda", "cuda0", "mps", "mps:0", "xpu:1", "hpu", "npu:0", "xla:0", "privateuseone:0", "my_chip:3"})
    EXPECT_EQ(torch_verdict(zip_of_storage("", good)), "ok") << good;
  for (const char* bad : {"cpU", "cqu", "", "cpu:0", "meta:0", "cuda:", "cuda:a", "cudax", "CUDA:0", ":0", "0:0", "c\xFFu:0", "cpu "})
    EXPECT_EQ(torch_verdict(zip_of_storage("", bad)), "BadPickle") << bad;
}

TEST(TorchZip, RecordsAboutTheWriterHoldWhatTorchReadsFromThem) {
  const auto with = [](const char* name, const char* text) {
    auto parts = two_parts();
    for (TorchPart& part : parts)
      if (part.name == name) part.name = "other";
    parts.push_back({name, text});
    return read_torch(torch_zip(parts));
  };
  EXPECT_FALSE(with(".storage_alignment", "64").problem);
  EXPECT_FALSE(with("byteorder", "little").problem);
  for (const char* bad : {"", "6x",
                          "\1"
                          "4",
                          "-"}) {
    const auto torch = with(".storage_alignment", bad);
    ASSERT_TRUE(torch.problem) << bad;
    EXPECT_THAT(torch.problem->text, testing::HasSubstr("invalid literal for int()"));
    EXPECT_THAT(torch.problem->detail, testing::HasSubstr(".storage_alignment"));
    EXPECT_NE(torch.problem->offset, 0U);
  }
  for (const char* bad : {"", "littlf", "little ", "bigger"}) {
    const auto torch = with("byteorder", bad);
    ASSERT_TRUE(torch.problem) << bad;
    EXPECT_THAT(torch.problem->text, testing::StartsWith("Unknown endianness type"));
  }
}

TEST(TorchZip, TorchScriptIsToldByItsConstantsAndCode) {
  auto parts = two_parts();
  parts.push_back({"constants.pkl", pickle::whole(pickle::tuple(""))});
  EXPECT_FALSE(read_torch(torch_zip(parts)).torchscript);
  parts.push_back({"code/__torch__.py", "class Net"});
  EXPECT_TRUE(read_torch(torch_zip(parts)).torchscript);
}

TEST(TorchZip, ByteOrderIsReadFromItsRecord) {
  auto parts = two_parts();
  EXPECT_FALSE(read_torch(torch_zip(parts)).big_endian);
  parts[2].data = "big";
  EXPECT_TRUE(read_torch(torch_zip(parts)).big_endian);
}

TEST(TorchZip, RecordNamesThatAreNoUtf8ArePrintable) {
  const auto torch = read_torch(torch_zip({{"data.pkl", pickle::whole(pickle::dict(""))}, {"\xFF", "x"}}));
  EXPECT_EQ(torch.records[1].name, "\\xff");
}

TEST(TorchZip, OtherFilesAreNotTorch) {
  for (const char* start : {"", "P", "PK\x05\x06", "<!DOCTYPE html>", "version https://git-lfs.github.com/spec/v1\n", "GGUF\x03"}) {
    const auto torch = read_torch(start);
    ASSERT_TRUE(torch.problem) << start;
    EXPECT_EQ(torch.problem->name, "NotTorch") << start;
  }
}

TEST(TorchZip, ErrorOfTheReaderIsAnErrorAndNoVerdict) {
  const std::string file = torch_zip(two_parts());
  for (std::uint64_t bad = 0; bad < file.size(); bad += 5) {
    const auto read = reader_of(file);
    const auto torch = read_torch_file(file.size(), [&](std::uint64_t offset, std::span<std::uint8_t> dst) -> Result<std::size_t> {
      if (offset <= bad && bad < offset + dst.size()) return fail(errno_error(EIO, "cannot read", "memory"));
      return read(offset, dst);
    });
    if (torch) {
      EXPECT_FALSE(torch->problem) << "a byte that nobody needs: " << bad;
    } else {
      EXPECT_EQ(torch.error().sys_errno, EIO);
    }
  }
}

}  // namespace
}  // namespace vouchfs::formats::test
