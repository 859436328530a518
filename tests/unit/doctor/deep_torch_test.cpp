// CRC-32 of the records of torch archives.
#include "support/torch_writer.h"
#include "unit/doctor/deep_sample.h"

namespace vouchfs::doctor {
namespace {

using namespace test;
using ingest::test::ModelFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string torch_file(bool checksums) {
  using namespace tests::pickle;
  std::string first(40960, '\1');
  std::string second(40960, '\2');
  const std::string table = dict(text("x.weight") + tensor(storage("FloatStorage", "0", 10240), {10240}, {1}) + text("y.weight") +
                                 tensor(storage("FloatStorage", "1", 10240), {10240}, {1}));
  tests::ZipOptions options;
  options.checksums = checksums;
  return tests::torch_zip({{"data.pkl", whole(table)}, {"byteorder", "little"}, {"data/0", first}, {"data/1", second}, {"version", "3\n"}}, options);
}

TEST(DeepTorch, ChecksumNamesRecordAndTensor) {
  ModelFolder folder;
  std::string bytes = torch_file(true);
  const std::size_t at = bytes.find(std::string(40960, '\2'));
  ASSERT_NE(at, std::string::npos);
  folder.put("pytorch_model.bin", bytes);
  EXPECT_THAT(said(doctor_of(folder).findings), IsEmpty());
  bytes[at + 7] = '\3';
  folder.put("pytorch_model.bin", bytes);
  EXPECT_THAT(said(doctor_of(folder, false).findings), IsEmpty());
  const Report report = doctor_of(folder);
  EXPECT_THAT(said(report.findings), ElementsAre("error torch.crc_mismatch pytorch_model.bin"));
  EXPECT_EQ(report.findings.at(0).offset, at);
  EXPECT_EQ(report.findings.at(0).length, 40960U);
  EXPECT_THAT(report.findings.at(0).tensors, ElementsAre("y.weight"));
}

TEST(DeepTorch, WithoutChecksumsNothingIsCompared) {
  ModelFolder folder;
  std::string bytes = torch_file(false);
  bytes[bytes.find(std::string(40960, '\2')) + 7] = '\3';
  folder.put("pytorch_model.bin", bytes);
  EXPECT_THAT(said(doctor_of(folder).findings), IsEmpty());
}

}  // namespace
}  // namespace vouchfs::doctor
