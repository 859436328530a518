#include "ingest/file_sealer.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/file.h"
#include "unit/ingest/model_folder.h"

namespace vouchfs::ingest {
namespace {

class SealFile : public ::testing::Test {
 protected:
  SealFile() {
    model.put_noise("file", 5000);
    root = std::move(*open_at(AT_FDCWD, model.path(), O_RDONLY | O_DIRECTORY, model.path()));
    options.root_fd = root.get();
    options.shown_root = "MODEL";
    options.hashing = {test::engine(), &done, &cancel, &stop};
  }
  ScannedFile scanned() const {
    struct stat info {};
    EXPECT_EQ(::stat(model.path("file").c_str(), &info), 0);
    return {"file", identity_of(info)};
  }
  void expect_changed(const Result<SealedFile>& sealed) const {
    ASSERT_FALSE(sealed);
    EXPECT_EQ(sealed.error().code, ErrorCode::changed);
    EXPECT_EQ(sealed.error().where.file, "MODEL/file");
  }

  test::ModelFolder model;
  UniqueFd root;
  std::atomic<std::uint64_t> done{0};
  CancelFlag cancel;
  std::atomic<bool> stop{false};
  SealerOptions options;
};

TEST_F(SealFile, GivesWhatTheToolsGive) {
  const auto sealed = FileSealer(options).seal(scanned(), 0);
  ASSERT_TRUE(sealed) << sealed.error().describe();
  EXPECT_EQ(hash::to_hex(sealed->entry.fsverity), test::fsverity_of(model.path("file")));
}

TEST_F(SealFile, RefusesAFileOfTheSameBytesThatWasPutInItsPlaceSinceTheScan) {
  const ScannedFile before = scanned();
  test::fs::copy_file(model.path("file"), model.path("copy"));
  test::fs::rename(model.path("copy"), model.path("file"));
  expect_changed(FileSealer(options).seal(before, 0));
  EXPECT_EQ(done, 0U) << "nothing is read of it";
}

// Writes the same bytes to a file again while it is being hashed: only the times of the file tell.
class MeddlingEngine final : public hash::Sha256Engine {
 public:
  explicit MeddlingEngine(const test::ModelFolder& model) : model_(model) {}
  std::string_view name() const noexcept override { return "meddling"; }
  void hash_many(std::span<const std::uint8_t> data, std::size_t message_bytes, std::span<hash::Digest> out) const override {
    model_.put_noise("file", 5000);
    inner_->hash_many(data, message_bytes, out);
  }

 private:
  const test::ModelFolder& model_;
  std::shared_ptr<const hash::Sha256Engine> inner_ = test::engine();
};

TEST_F(SealFile, RefusesAFileThatIsWrittenWhileItIsHashedAndLeavesNoTree) {
  const auto target = SealTarget::open(model.path(".vouch"), 0);
  ASSERT_TRUE(target);
  const auto work = WorkFolder::open(*target);
  ASSERT_TRUE(work);
  options.work = &*work;
  options.hashing.engine = std::make_shared<MeddlingEngine>(model);
  expect_changed(FileSealer(options).seal(scanned(), 0));
  EXPECT_TRUE(test::names_below(model.path(".vouch/work")).empty());
}

TEST(WaitOutTick, MakesEveryLaterWriteShow) {
  const test::ModelFolder model;
  for (int i = 0; i < 5; ++i) {
    model.put("file", "12345");
    struct stat before {};
    struct stat after {};
    ASSERT_EQ(::stat(model.path("file").c_str(), &before), 0);
    wait_out_tick(identity_of(before));
    model.put("file", "12346");
    ASSERT_EQ(::stat(model.path("file").c_str(), &after), 0);
    EXPECT_NE(identity_of(before), identity_of(after));
  }
}

TEST(WaitOutTick, DoesNotWaitForAnOldFileOrOneFromTheFuture) {
  FileIdentity identity;
  identity.mtime_ns = identity.ctime_ns = now_ns() - 60'000'000'000;
  const std::int64_t start = now_ns();
  wait_out_tick(identity);
  identity.mtime_ns = now_ns() + 3'600'000'000'000;
  wait_out_tick(identity);
  EXPECT_LT(now_ns() - start, 3'000'000'000) << "an hour was waited out";
}

}  // namespace
}  // namespace vouchfs::ingest
