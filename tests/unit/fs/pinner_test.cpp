// Filling, sealing and publishing pinned files, with a kernel of the test's own.
#include "fs/pinner.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "fs/sealed_memory.h"
#include "unit/view/test_model.h"
#include "view/sealed_model.h"

namespace vouchfs::fs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using view::PinState;

constexpr int kAllSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr std::chrono::seconds kLong{20};

class PinnerTest : public testing::Test {
 protected:
  PinnerTest() {
    view::test::write_file(model_ + "/a.bin", a_);
    view::test::write_file(model_ + "/b.bin", b_);
    view::test::write_file(model_ + "/c.bin", c_);
    view::test::seal_model(model_);
    mounted_ = view::test::mount_model(model_);
    const view::PinRequest request{{"*"}, 1ULL << 40};
    plan_ = view::plan_pins(*mounted_.view, request);
    files_.expect(plan_);
    progress_ = std::make_shared<view::PinProgress>(view::pin_outlook(plan_, request, {}));
    kernel_.ask_verity = ask_verity;
    kernel_.open_backing = [this](int file) -> Result<BackingId> {
      return registered_.push_back(::fcntl(file, F_GET_SEALS) & kAllSeals), static_cast<BackingId>(registered_.size());
    };
    kernel_.forget_name = [this](std::uint64_t, const std::string& name) { forgotten_.push_back({name, files_.shown_id(*mounted_.at(name))}); };
  }
  // Lets the thread come to its end.
  void run() {
    Pinner pinner(files_, progress_, kernel_, descriptors_);
    pinner.start();
    ASSERT_TRUE(view::test::eventually([this] { return progress_->snapshot().state == PinState::done; }));
    ASSERT_TRUE(pinner.stop(kLong));
  }
  const view::PinItem& item(std::size_t index) const { return plan_.items.at(index); }
  const PinnedFile& file(std::size_t index) const { return *files_.find(item(index).node->id); }
  std::optional<std::string> from_memory(std::size_t index, std::uint64_t offset, std::size_t bytes) const {
    std::string out(bytes, '?');
    const bool there = file(index).read(offset, {reinterpret_cast<std::uint8_t*>(out.data()), bytes});
    return there ? std::optional(out) : std::nullopt;
  }
  std::vector<std::string> forgotten_names() const {
    std::vector<std::string> out;
    for (const auto& [name, shown] : forgotten_) out.push_back(name);
    return out;
  }

  view::test::TempDir dir_;
  std::string model_ = dir_ / "model";
  std::string a_ = view::test::noise(3'000'001, 1);
  std::string b_ = view::test::noise(2'500'000, 2);
  std::string c_ = view::test::noise(10, 3);
  view::test::Mounted mounted_;
  view::PinPlan plan_;
  PinnedFiles files_;
  std::shared_ptr<view::PinProgress> progress_;
  PinKernel kernel_;
  std::size_t descriptors_ = 3;
  std::vector<int> registered_;                                   // the seals of each
  std::vector<std::pair<std::string, std::uint64_t>> forgotten_;  // and the id that was shown by then
};

TEST_F(PinnerTest, BeforeTheFillEveryFileHasItsOwnIdAndNothingIsInMemory) {
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(files_.shown_id(*item(i).node), item(i).node->id);
    EXPECT_EQ(file(i).backing(), 0);
    EXPECT_FALSE(from_memory(i, 0, 1));
    EXPECT_EQ(files_.find(item(i).twin), &file(i));
  }
  EXPECT_EQ(files_.find(view::kRootId), nullptr);
  EXPECT_EQ(files_.shown_id(*mounted_.view->find(view::kRootId)), view::kRootId);
}

TEST_F(PinnerTest, FillsInOrderSealsAndOnlyThenShowsTheTwin) {
  run();
  EXPECT_THAT(registered_, ElementsAre(kAllSeals, kAllSeals, kAllSeals));
  EXPECT_THAT(forgotten_, ElementsAre(std::pair("a.bin", item(0).twin), std::pair("b.bin", item(1).twin), std::pair("c.bin", item(2).twin)));
  EXPECT_EQ(from_memory(0, 0, a_.size()), a_);
  EXPECT_EQ(from_memory(1, 1000, 2000), b_.substr(1000, 2000));
  EXPECT_EQ(from_memory(2, 0, 10), c_);
  EXPECT_FALSE(from_memory(2, 0, 11)) << "past the end there is nothing that was verified";
  const view::PinFacts facts = progress_->snapshot();
  EXPECT_EQ(facts.pinned_files, 3U);
  EXPECT_EQ(facts.pinned_bytes, a_.size() + b_.size() + c_.size());
  EXPECT_EQ(facts.filled_bytes, facts.pinned_bytes);
  EXPECT_EQ(facts.why, "");
}

TEST_F(PinnerTest, OfMoreFilesThanDescriptorsOnlyTheKernelKeepsTheMemory) {
  descriptors_ = 2;
  run();
  EXPECT_EQ(progress_->snapshot().pinned_files, 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(from_memory(i, 0, 1));
    EXPECT_EQ(files_.shown_id(*item(i).node), item(i).twin);
  }
}

TEST_F(PinnerTest, WhatTheKernelVerifiesItselfNeedsNoMemory) {
  const hash::Digest digest = item(1).node->fsverity;  // of b.bin
  kernel_.ask_verity = [&](int) {
    VerityAnswer answer{true, true, 1, 32, {}};
    std::copy(digest.begin(), digest.end(), answer.digest.begin());
    return answer;
  };
  std::vector<off_t> sizes;
  kernel_.open_backing = [&](int file) -> Result<BackingId> {
    struct stat facts {};
    EXPECT_EQ(::fstat(file, &facts), 0);
    EXPECT_EQ(::fcntl(file, F_GETFL) & O_ACCMODE, sizes.size() == 1 ? O_RDONLY : O_RDWR) << "the model's file is given for reading only";
    return sizes.push_back(facts.st_size), static_cast<BackingId>(sizes.size());
  };
  run();
  EXPECT_EQ(sizes.size(), 3U);
  EXPECT_FALSE(from_memory(1, 0, 1)) << "b.bin is read where it lies";
  EXPECT_TRUE(from_memory(0, 0, 1)) << "the digest of another file does not count";
  EXPECT_EQ(files_.shown_id(*item(1).node), item(1).twin);
  EXPECT_EQ(progress_->snapshot().filled_bytes, a_.size() + b_.size() + c_.size());
}

TEST_F(PinnerTest, ADamagedFileStaysAsItWasAndItsMemoryIsGivenBack) {
  view::test::flip(model_ + "/a.bin", 2'500'000);
  run();
  EXPECT_THAT(forgotten_names(), ElementsAre("b.bin", "c.bin"));
  EXPECT_EQ(files_.shown_id(*item(0).node), item(0).node->id);
  EXPECT_FALSE(from_memory(0, 0, 100));
  const view::PinFacts facts = progress_->snapshot();
  EXPECT_EQ(facts.pinned_files, 2U);
  EXPECT_EQ(facts.filled_bytes, b_.size() + c_.size());
  EXPECT_THAT(facts.why, HasSubstr("a.bin is not pinned"));
}

TEST_F(PinnerTest, WhatTheKernelDoesNotTakeStaysAsItWas) {
  kernel_.open_backing = [](int) -> Result<BackingId> { return fail(errno_error(ENOMEM, "no")); };
  run();
  EXPECT_THAT(forgotten_names(), IsEmpty());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(files_.shown_id(*item(i).node), item(i).node->id);
  EXPECT_EQ(progress_->snapshot().filled_bytes, 0U);
  EXPECT_EQ(progress_->snapshot().pinned_files, 0U);
}

TEST_F(PinnerTest, StopsBetweenTwoPiecesAndSaysWhenItCannot) {
  std::mutex gate;
  std::atomic<bool> reached{false};
  std::unique_lock closed(gate);
  kernel_.forget_name = [&](std::uint64_t, const std::string&) {
    reached = true;
    const std::lock_guard wait(gate);
  };
  Pinner pinner(files_, progress_, kernel_, descriptors_);
  pinner.start();
  ASSERT_TRUE(view::test::eventually([&] { return reached.load(); }));
  EXPECT_FALSE(pinner.stop(std::chrono::milliseconds(1)));
  closed.unlock();
  EXPECT_TRUE(pinner.stop(kLong));
  EXPECT_EQ(registered_.size(), 1U) << "the next file was not begun";
  EXPECT_EQ(progress_->snapshot().state, PinState::filling);
}

TEST(KernelVerityTest, CountsOnlyWhenBothAnswersAreThereAndTheDigestIsTheSealedOne) {
  hash::Digest sealed{};
  sealed[0] = 7;
  VerityAnswer right{true, true, 1, 32, {}};
  right.digest[0] = 7;
  EXPECT_TRUE(kernel_verifies(right, sealed));
  const auto but = [&](auto change) {
    VerityAnswer other = right;
    change(other);
    return kernel_verifies(other, sealed);
  };
  EXPECT_FALSE(but([](VerityAnswer& answer) { answer.attribute = false; }));
  EXPECT_FALSE(but([](VerityAnswer& answer) { answer.measured = false; }));
  EXPECT_FALSE(but([](VerityAnswer& answer) { answer.algorithm = 2; }));
  EXPECT_FALSE(but([](VerityAnswer& answer) { answer.digest_bytes = 64; }));
  EXPECT_FALSE(but([](VerityAnswer& answer) { answer.digest[31] = 1; }));
}

TEST(KernelVerityTest, AFileWithoutItSaysSo) {
  const auto memory = make_memory("plain");
  ASSERT_TRUE(memory);
  const VerityAnswer answer = ask_verity(memory->get());
  EXPECT_FALSE(answer.attribute);
  EXPECT_FALSE(answer.measured);
  EXPECT_FALSE(ask_verity(-1).measured);
}

TEST(SealedMemoryTest, NobodyCanChangeItAfterwards) {
  const auto memory = make_memory("test");
  ASSERT_TRUE(memory);
  ASSERT_EQ(::pwrite(memory->get(), "abc", 3, 0), 3);
  EXPECT_EQ(seal_memory(memory->get(), 4).error().code, ErrorCode::internal) << "one byte is missing";
  ASSERT_TRUE(seal_memory(memory->get(), 3));
  EXPECT_EQ(::pwrite(memory->get(), "x", 1, 0), -1);
  EXPECT_NE(::ftruncate(memory->get(), 2), 0);
  EXPECT_NE(::ftruncate(memory->get(), 5), 0);
  EXPECT_NE(::fcntl(memory->get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  EXPECT_EQ(::fcntl(memory->get(), F_GET_SEALS) & kAllSeals, kAllSeals);
}

TEST(SealedMemoryTest, ALongNameIsCut) { EXPECT_TRUE(make_memory(std::string(4000, 'n'))); }

}  // namespace
}  // namespace vouchfs::fs
