// The one read of every byte: seal, publisher, checksums, zeros, values that are not finite.
#include <sys/stat.h>

#include <cmath>
#include <cstring>

#include "unit/doctor/deep_sample.h"

namespace vouchfs::doctor {
namespace {

using namespace test;
using ingest::test::ModelFolder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kFile = "model.safetensors";

// Two weights and a bias of 64 KiB and more, of finite numbers; the header is 8 bytes and `header` long.
class DeepModel : public testing::Test {
 protected:
  void SetUp() override {
    folder_.put(kFile, ingest::test::safetensors({{"a.weight", 40000}, {"b.weight", 40000}, {"c.bias", 20000}}));
    bytes_ = folder_.get(kFile);
    std::uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), 8);
    data_ = 8 + length;
    for (std::size_t at = data_; at < bytes_.size(); at += 4) set(at, 1.0F + static_cast<float>(at));
    save();
  }
  void set(std::size_t at, float value) { std::memcpy(bytes_.data() + at, &value, 4); }
  void zero(std::size_t from, std::size_t count) { std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(from), count, '\0'); }
  void save() const { folder_.put(kFile, bytes_); }
  std::size_t a() const { return data_; }
  std::size_t b() const { return data_ + 160000; }
  std::size_t c() const { return data_ + 320000; }
  std::vector<std::string> deep() const { return about_data(doctor_of(folder_)); }
  static std::vector<std::string> about_data(const Report& report) {
    std::vector<std::string> lines = said(report.findings);
    const auto is_other = [](const std::string& line) { return line.find("safetensors.no_format") != std::string::npos; };
    lines.erase(std::remove_if(lines.begin(), lines.end(), is_other), lines.end());
    return lines;
  }
  static Finding first(const Report& report, const std::string& code) {
    for (const Finding& finding : report.findings)
      if (finding.code == code) return finding;
    ADD_FAILURE() << "no finding " << code << "; said was " << testing::PrintToString(said(report.findings));
    return {};
  }

  ModelFolder folder_;
  std::string bytes_;
  std::size_t data_ = 0;
};

TEST_F(DeepModel, ThatIsGoodIsSilent) { EXPECT_THAT(deep(), IsEmpty()); }

TEST_F(DeepModel, ZeroWeightIsAWarningAndAZeroBiasIsNone) {
  zero(b(), 160000);
  zero(c(), 80000);
  save();
  const Report report = doctor_of(folder_);
  EXPECT_THAT(about_data(report), ElementsAre(std::string("warning data.zero_tensor ") + kFile));
  const Finding finding = first(report, "data.zero_tensor");
  EXPECT_THAT(finding.tensors, ElementsAre("b.weight"));
  EXPECT_EQ(finding.offset, b());
  EXPECT_EQ(finding.length, 160000U);
  EXPECT_THAT(finding.message, HasSubstr("40 blocks"));
  EXPECT_EQ(report.verdict, Verdict::whole);
}

TEST_F(DeepModel, OneValueThatIsNotZeroSavesATensor) {
  zero(b(), 160000);
  set(b() + 159996, 1.0F);
  save();
  EXPECT_THAT(deep(), ElementsAre(std::string("warning data.zero_run ") + kFile));
}

TEST_F(DeepModel, LongZeroRunIsSaidWithItsPlaceAndAShortOneIsNot) {
  const std::size_t block = blocks_for(a()) * kBlockBytes;
  zero(block, 15 * kBlockBytes);
  save();
  EXPECT_THAT(deep(), IsEmpty());
  zero(block, 16 * kBlockBytes);
  save();
  const Finding finding = first(doctor_of(folder_), "data.zero_run");
  EXPECT_EQ(finding.offset, block);
  EXPECT_EQ(finding.length, 16 * kBlockBytes);
  EXPECT_THAT(finding.tensors, ElementsAre("a.weight"));
}

TEST_F(DeepModel, ValuesThatAreNotFiniteAreANoteATensor) {
  set(a() + 400, NAN);
  set(a() + 800, INFINITY);
  set(c() + 4, -INFINITY);
  save();
  const Report report = doctor_of(folder_);
  EXPECT_THAT(about_data(report), ElementsAre(std::string("note data.not_finite ") + kFile, std::string("note data.not_finite ") + kFile));
  const Finding finding = first(report, "data.not_finite");
  EXPECT_EQ(finding.offset, a() + 400);
  EXPECT_EQ(finding.length, 4U);
  EXPECT_THAT(finding.message, StartsWith("1 NaN and 1 infinite among 40000 values"));
  EXPECT_THAT(finding.message, HasSubstr("value 100"));
  EXPECT_EQ(report.verdict, Verdict::whole);
}

TEST_F(DeepModel, WithoutDeepNothingOfThisIsLookedAt) {
  zero(b(), 160000);
  set(a(), NAN);
  save();
  EXPECT_THAT(about_data(doctor_of(folder_, false)), IsEmpty());
}

TEST_F(DeepModel, HoleInAWeightIsSaidWithoutARead) {
  const std::size_t from = blocks_for(a()) * kBlockBytes;
  std::string sparse = bytes_;
  std::ofstream file(folder_.path(kFile), std::ios::binary | std::ios::trunc);
  file.write(sparse.data(), static_cast<std::streamsize>(from));
  file.seekp(static_cast<std::streamoff>(from + 8 * kBlockBytes));
  file.write(sparse.data() + from + 8 * kBlockBytes, static_cast<std::streamsize>(sparse.size() - from - 8 * kBlockBytes));
  file.close();
  for (const bool deep : {false, true}) {
    const Report report = doctor_of(folder_, deep);
    EXPECT_THAT(about_data(report), ElementsAre(std::string("warning data.hole ") + kFile));
    const Finding finding = first(report, "data.hole");
    EXPECT_EQ(finding.offset, from);
    EXPECT_EQ(finding.length, 8 * kBlockBytes);
    EXPECT_THAT(finding.tensors, ElementsAre("a.weight"));
  }
}

TEST_F(DeepModel, BlocksAreHeldToTheSealOneByOne) {
  ASSERT_TRUE(folder_.ingest());
  EXPECT_THAT(deep(), IsEmpty());
  bytes_[b() + 20000] = static_cast<char>(bytes_[b() + 20000] ^ 1);
  bytes_[b() + 24096] = static_cast<char>(bytes_[b() + 24096] ^ 1);
  bytes_.back() = static_cast<char>(bytes_.back() ^ 1);
  save();
  const Report report = doctor_of(folder_);
  const std::string line = std::string("error seal.block_mismatch ") + kFile;
  EXPECT_THAT(about_data(report), ElementsAre(line, line));
  const Finding run = first(report, "seal.block_mismatch");
  const std::uint64_t block = (b() + 20000) / kBlockBytes;
  EXPECT_EQ(run.offset, block * kBlockBytes);
  EXPECT_EQ(run.length, 2 * kBlockBytes);
  EXPECT_THAT(run.tensors, ElementsAre("b.weight"));
  EXPECT_THAT(run.message, StartsWith("blocks " + std::to_string(block) + " to " + std::to_string(block + 1)));
  const Finding& tail = report.findings.at(1);
  EXPECT_EQ(*tail.offset + *tail.length, bytes_.size());
  EXPECT_THAT(tail.tensors, ElementsAre("c.bias"));
}

TEST_F(DeepModel, ADamagedTreeIsSaidAndTheDigestOfTheManifestJudgesTheFile) {
  ASSERT_TRUE(folder_.ingest());
  for (const auto& entry : stdfs::directory_iterator(folder_.path(".vouch/trees"))) {
    std::fstream tree(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    tree.seekp(5);
    tree.put('!');
  }
  EXPECT_THAT(deep(), ElementsAre(std::string("warning seal.unusable ") + kFile));
  bytes_[b()] = static_cast<char>(bytes_[b()] ^ 1);
  save();
  EXPECT_THAT(deep(), ElementsAre(std::string("error seal.block_mismatch ") + kFile, std::string("warning seal.unusable ") + kFile));
}

// Opening a fifo for reading waits for a writer, and for a hostile seal that is for ever.
TEST_F(DeepModel, AFifoInPlaceOfATreeIsNoGoodTree) {
  ASSERT_TRUE(folder_.ingest());
  for (const auto& entry : stdfs::directory_iterator(folder_.path(".vouch/trees"))) {
    stdfs::remove(entry.path());
    ASSERT_EQ(::mkfifo(entry.path().c_str(), 0600), 0);
  }
  EXPECT_THAT(deep(), ElementsAre(std::string("warning seal.unusable ") + kFile));
}

TEST_F(DeepModel, FileOfOneBlockIsHeldToTheSeal) {
  folder_.put("config.json", R"({"model_type":"bert"})");
  ASSERT_TRUE(folder_.ingest());
  folder_.put("config.json", R"({"model_type":"berT"})");
  EXPECT_THAT(deep(), ElementsAre("error seal.block_mismatch config.json"));
}

TEST_F(DeepModel, PublishersDigestNamesBothAndTheSealThePlace) {
  const auto sha256 = vouchfs::test::first_word(vouchfs::test::run_tool({"sha256sum", folder_.path(kFile)}));
  folder_.put("SHA256SUMS", sha256 + "  " + kFile + "\n");
  EXPECT_THAT(deep(), IsEmpty());
  ASSERT_TRUE(folder_.ingest());
  bytes_[a() + 9000] = static_cast<char>(bytes_[a() + 9000] ^ 4);
  save();
  const auto now = vouchfs::test::first_word(vouchfs::test::run_tool({"sha256sum", folder_.path(kFile)}));
  const Report report = doctor_of(folder_);
  EXPECT_THAT(about_data(report), ElementsAre(std::string("error publisher.digest_mismatch ") + kFile));
  const Finding finding = first(report, "publisher.digest_mismatch");
  EXPECT_THAT(finding.message, HasSubstr("bytes changed"));
  EXPECT_THAT(finding.message, HasSubstr(sha256));
  EXPECT_THAT(finding.message, HasSubstr(now));
  EXPECT_THAT(finding.message, HasSubstr("differs from the seal"));
  EXPECT_EQ(finding.offset, (a() + 9000) / kBlockBytes * kBlockBytes);
  EXPECT_THAT(finding.tensors, ElementsAre("a.weight"));
}

TEST_F(DeepModel, FindingsComeInOrderWhateverTheNumberOfThreads) {
  zero(b(), 160000);
  std::vector<std::string> files;
  for (int i = 0; i < 8; ++i) folder_.put("model-0000" + std::to_string(i + 1) + "-of-00008.safetensors", bytes_);
  stdfs::remove(folder_.path(kFile));
  const auto zero_files = [&](unsigned jobs) {
    std::vector<std::string> names;
    for (const Finding& finding : doctor_of(folder_, true, jobs).findings)
      if (finding.code == "data.zero_tensor") names.push_back(finding.file);
    return names;
  };
  EXPECT_EQ(zero_files(1).size(), 8U);
  EXPECT_EQ(zero_files(1), zero_files(7));
}

TEST_F(DeepModel, StopsWhenItIsCancelled) {
  DoctorOptions options;
  options.deep = true;
  DeepProgress progress;
  CancelFlag cancel;
  cancel.request();
  const auto model = publisher::folder_place(folder_.path());
  const CancelFlag going;
  const auto facts = gather(model, {}, going);
  ASSERT_TRUE(facts);
  Findings findings;
  const Status status = deep_checks(*facts, 2, hash::make_openssl_engine(), progress, cancel, findings);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::cancelled);
}

TEST_F(DeepModel, AFileThatGotShorterMeanwhileIsSaid) {
  const CancelFlag cancel;
  const auto facts = gather(publisher::folder_place(folder_.path()), {}, cancel);
  ASSERT_TRUE(facts);
  stdfs::resize_file(folder_.path(kFile), 100000);
  DeepProgress progress;
  Findings findings;
  ASSERT_TRUE(deep_checks(*facts, 1, hash::make_openssl_engine(), progress, cancel, findings));
  ASSERT_EQ(findings.all().size(), 1U);
  EXPECT_EQ(findings.all()[0].code, "file.io_error");
  EXPECT_EQ(findings.all()[0].offset, 100000U);
}

TEST_F(DeepModel, FindingsOfFilesComeInTheirOrderAndNotInThatOfTheirSizes) {
  zero(b(), 160000);
  folder_.put("a.safetensors", bytes_);
  std::string large = ingest::test::safetensors({{"z.weight", 200000}});
  std::fill(large.end() - 800000, large.end(), '\0');
  folder_.put("b.safetensors", large);
  folder_.put("c.safetensors", bytes_);
  const CancelFlag cancel;
  const auto facts = gather(publisher::folder_place(folder_.path()), {}, cancel);
  ASSERT_TRUE(facts);
  DeepProgress progress;
  Findings findings;
  ASSERT_TRUE(deep_checks(*facts, 1, hash::make_openssl_engine(), progress, cancel, findings));
  std::vector<std::string> files;
  for (const Finding& finding : findings.all())
    if (finding.code == "data.zero_tensor") files.push_back(finding.file);
  EXPECT_THAT(files, ElementsAre("a.safetensors", "b.safetensors", "c.safetensors"));
}

// A tensor of three pieces of the read, and a tree of several blocks.
class DeepLargeModel : public DeepModel {
 protected:
  void SetUp() override {
    folder_.put(kFile, ingest::test::safetensors({{"a.weight", 3000000}}));
    bytes_ = folder_.get(kFile);
    std::uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), 8);
    data_ = 8 + length;
    zero(data_, bytes_.size() - data_);
  }
};

TEST_F(DeepLargeModel, ValueInOnePieceOfTheReadSavesTheTensor) {
  save();
  EXPECT_THAT(deep(), ElementsAre(std::string("warning data.zero_tensor ") + kFile));
  for (const std::size_t at : {std::size_t{0}, std::size_t{6000000}, std::size_t{11999996}}) {
    SetUp();
    set(data_ + at, 2.0F);
    save();
    EXPECT_THAT(deep(), Not(Contains(std::string("warning data.zero_tensor ") + kFile))) << at;
  }
}

TEST_F(DeepLargeModel, IsHeldToEveryBlockOfItsTree) {
  for (std::size_t at = data_; at + 4 <= bytes_.size(); at += 4) set(at, 1.0F + static_cast<float>(at % 999));
  save();
  ASSERT_TRUE(folder_.ingest());
  EXPECT_THAT(deep(), IsEmpty());
  bytes_[9000000] = static_cast<char>(bytes_[9000000] ^ 1);
  save();
  const Finding finding = first(doctor_of(folder_), "seal.block_mismatch");
  EXPECT_EQ(finding.offset, 9000000 / kBlockBytes * kBlockBytes);
  EXPECT_EQ(finding.length, kBlockBytes);
}

TEST(DeepSnapshot, OfACacheIsHeldToTheGitNameOfASmallBlob) {
  // git hash-object of "{}": the name Git gives it.
  const std::string name = "9e26dfeeb6e641a33dae4961196235bdb965b21b";
  const std::string snapshot = "models--o--n/snapshots/" + std::string(40, 'c');
  ScratchFolder folder;
  folder.put("models--o--n/blobs/" + name, "{}");
  folder.put("models--o--n/refs/main", std::string(40, 'c'));
  folder.link(snapshot + "/config.json", "../../blobs/" + name);
  EXPECT_THAT(said(folder.diagnose(snapshot, true).findings), Not(Contains(HasSubstr("publisher.digest_mismatch"))));
  folder.put("models--o--n/blobs/" + name, "[]");
  EXPECT_THAT(said(folder.diagnose(snapshot, true).findings), Contains("error publisher.digest_mismatch config.json"));
}

}  // namespace
}  // namespace vouchfs::doctor
