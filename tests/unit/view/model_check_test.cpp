#include "view/model_check.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "unit/view/test_model.h"

namespace vouchfs::view {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using test::flip;

constexpr std::uint64_t kWeightsBlocks = 1100;  // three pieces of work, the last one short

class CheckModel : public ::testing::Test {
 protected:
  void SetUp() override {
    test::write_file(dir / "config.json", "{}");
    test::write_file(dir / "empty", "");
    const std::string bytes = test::safetensors({{"first", 600 * kBlockBytes}, {"second", 499 * kBlockBytes}});
    data_begins = test::data_offset(bytes);
    weights_bytes = bytes.size();
    ASSERT_EQ(blocks_for(weights_bytes), kWeightsBlocks);
    test::write_file(weights(), bytes);
    test::seal_model(dir.path());
  }
  std::string weights() const { return dir / "model.safetensors"; }
  ModelCheck check(unsigned jobs = 0) {
    const auto opened = test::open_model(dir.path());
    CheckProgress progress;
    const CancelFlag cancel;
    const auto result = check_model(*opened.model, jobs, progress, cancel);
    EXPECT_TRUE(result) << result.error().describe();
    EXPECT_EQ(progress.bytes_done, progress.bytes_total);
    EXPECT_EQ(progress.bytes_total, weights_bytes + 2);
    return result ? *result : ModelCheck{};
  }
  // "block+blocks kind: tensors" of every run of the weights.
  static std::vector<std::string> words(const ModelCheck& check) {
    std::vector<std::string> out;
    for (const BadRun& run : check.runs) {
      std::string text = run.file + " " + std::to_string(run.block) + "+" + std::to_string(run.blocks) + " " + (run.lost ? "lost" : to_string(run.kind)) + ":";
      for (const std::string& tensor : run.tensors) text += " " + tensor;
      out.push_back(text);
    }
    return out;
  }
  void damage(std::uint64_t block) const { flip(weights(), block * kBlockBytes + 9); }

  test::TempDir dir;
  std::uint64_t data_begins = 0;
  std::uint64_t weights_bytes = 0;
};

TEST_F(CheckModel, FindsNothingInAWholeModel) {
  const ModelCheck result = check();
  EXPECT_THAT(words(result), IsEmpty());
  EXPECT_EQ(result.files, 3U);
  EXPECT_EQ(result.bytes, weights_bytes + 2);
  EXPECT_EQ(result.blocks, kWeightsBlocks + 1);
  EXPECT_EQ(result.corrupt_blocks, 0U);
}

TEST_F(CheckModel, MergesNeighboursAlsoAcrossPiecesAndNamesTheTensorsTheyCut) {
  for (const std::uint64_t block : {3U, 510U, 511U, 512U, 513U, 600U, 1099U}) damage(block);
  for (const unsigned jobs : {1U, 2U, 8U}) {
    const ModelCheck result = check(jobs);
    EXPECT_THAT(words(result), ElementsAre("model.safetensors 3+1 corrupt: first", "model.safetensors 510+4 corrupt: first", "model.safetensors 600+1 corrupt: first second",
                                           "model.safetensors 1099+1 corrupt: second"));
    EXPECT_EQ(result.corrupt_blocks, 7U);
    EXPECT_EQ(result.runs.back().offset + result.runs.back().length, weights_bytes) << "cut at the end of the file";
  }
}

TEST_F(CheckModel, EndsARunWhereTheKindOfFaultChanges) {
  damage(127);
  const auto digest = test::open_model(dir.path()).model->seal().manifest.files.back().fsverity;
  flip(dir / (".vouch/" + seal::tree_path(digest)), 2 * kBlockBytes + 5);  // after the root: the leaf block of blocks 128 to 255
  const ModelCheck result = check();
  EXPECT_THAT(words(result), ElementsAre("model.safetensors 127+1 corrupt: first", "model.safetensors 128+128 tree: first"));
  EXPECT_EQ(result.corrupt_blocks, 129U);
}

TEST_F(CheckModel, CountsWhatALostAndACutFileLacks) {
  std::filesystem::resize_file(weights(), 700 * kBlockBytes + 1);
  std::filesystem::remove(dir / "config.json");
  std::filesystem::remove(dir / "empty");
  damage(699);
  const ModelCheck result = check();
  EXPECT_THAT(words(result), ElementsAre("config.json 0+1 lost:", "empty 0+0 lost:", "model.safetensors 699+1 corrupt: second", "model.safetensors 700+400 truncated: second"));
  EXPECT_EQ(result.corrupt_blocks, 402U);
}

TEST_F(CheckModel, TellsAnUnreadableFileFromALostOne) {
  std::filesystem::remove(dir / "config.json");
  std::filesystem::create_directory(dir / "config.json");
  EXPECT_THAT(words(check()), ElementsAre("config.json 0+1 unreadable:"));
}

TEST_F(CheckModel, StopsWhenCancelled) {
  const auto opened = test::open_model(dir.path());
  CheckProgress progress;
  CancelFlag cancel;
  cancel.request();
  const auto result = check_model(*opened.model, 2, progress, cancel);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::cancelled);
  EXPECT_EQ(progress.bytes_done, 0U);
}

}  // namespace
}  // namespace vouchfs::view
