// A process that dies at any step of publishing must leave the older seal or the newer one, whole, and nothing that the next
// ingest does not clear away. A child publishes and kills itself at step k, for every k there is.
#include "ingest/publish.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "ingest/work_folder.h"
#include "unit/ingest/model_folder.h"

namespace vouchfs::ingest {
namespace {

using test::ModelFolder;

class PublishKilled : public ::testing::Test {
 protected:
  void SetUp() override {
    model.fill();
    old_digest = sealed(model.options());
    test::fs::copy(model.path(".vouch"), model.beside("old"), test::fs::copy_options::recursive);
    model.put_noise("added.bin", 200000, 5);
    model.put("extra.safetensors", test::safetensors({{"x", 5000}}, 6));
    IngestOptions elsewhere = model.options();
    elsewhere.seal_dir = model.beside("new");
    new_digest = sealed(elsewhere);
    ASSERT_NE(old_digest, new_digest);
  }

  std::string sealed(const IngestOptions& options) const {
    const auto report = model.ingest(options);
    EXPECT_TRUE(report) << report.error().describe();
    return report ? hash::to_hex(report->model_digest) : "";
  }

  void put_back_old_seal() const {
    test::fs::remove_all(model.path(".vouch"));
    if (with_old) test::fs::copy(model.beside("old"), model.path(".vouch"), test::fs::copy_options::recursive);
  }

  // Publishes the new seal; on_step is called before each step. work/ is filled as the pipeline would.
  Status publish_new(const PublishHook& on_step) const {
    const auto wanted = seal::open_seal(model.beside("new"), std::nullopt, *test::engine());
    VOUCHFS_ASSIGN(const SealTarget target, SealTarget::open(model.path(".vouch"), 0));
    for (const seal::ManifestFile& file : wanted->manifest.files)
      if (file.bytes > kBlockBytes)
        test::fs::copy_file(model.beside("new") + "/" + seal::tree_path(file.fsverity), model.path(".vouch/") + WorkFolder::tree_name(file.fsverity),
                            test::fs::copy_options::overwrite_existing);
    const std::string provenance = test::read_text(model.beside("new/provenance.json"));
    const auto done = publish(target, {wanted->manifest, wanted->manifest_text, wanted->table_text, provenance}, on_step);
    if (!done) return fail(done.error());
    return {};
  }

  // True when a child lived to the end, false when it killed itself at this step.
  bool publish_killed_at(int fatal_step) const {
    const pid_t child = ::fork();
    if (child == 0) {
      int step = 0;
      const Status done = publish_new([&](const std::string&) {
        if (step++ == fatal_step) ::kill(::getpid(), SIGKILL);
      });
      ::_exit(done ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "publishing failed at step " << fatal_step;
    return WIFEXITED(status);
  }

  // Which seal there is, after everything that it names was looked at.
  std::string whole_seal() const {
    const auto opened = seal::open_seal(model.path(".vouch"), std::nullopt, *test::engine());
    if (!opened) return opened.error().code == ErrorCode::not_found ? "none" : opened.error().describe();
    for (const seal::ManifestFile& file : opened->manifest.files) {
      if (file.bytes <= kBlockBytes) continue;
      test::run_tool({"fsverity", "digest", "--out-merkle-tree=" + model.beside("tree"), model.path(file.path)});
      EXPECT_EQ(test::read_text(model.path(".vouch/") + seal::tree_path(file.fsverity)), test::read_text(model.beside("tree"))) << file.path;
    }
    return hash::to_hex(opened->model_digest);
  }

  void kill_at_every_step() {
    int news = 0;
    int step = 0;
    for (bool finished = false; !finished; ++step) {
      SCOPED_TRACE("killed at step " + std::to_string(step));
      put_back_old_seal();
      finished = publish_killed_at(step);
      const std::string now = whole_seal();
      ASSERT_THAT(now, ::testing::AnyOf(with_old ? old_digest : "none", new_digest));
      if (now == new_digest) {
        ASSERT_EQ(test::read_text(model.path(".vouch/provenance.json")), test::read_text(model.beside("new/provenance.json")));
      }
      news += now == new_digest ? 1 : 0;
      ASSERT_EQ(sealed(model.options()), new_digest) << "the next ingest";
      ASSERT_EQ(test::names_below(model.path(".vouch")), test::names_below(model.beside("new"))) << "debris";
    }
    EXPECT_GT(step - 1, 12) << "steps";
    EXPECT_GE(news, 2) << "steps after the manifest is in place";
    EXPECT_LT(news, step) << "steps before it";
  }

  ModelFolder model;
  std::string old_digest;
  std::string new_digest;
  bool with_old = true;
};

TEST_F(PublishKilled, LeavesTheOlderOrTheNewerSealAtEveryStep) { kill_at_every_step(); }

TEST_F(PublishKilled, LeavesNoneOrTheNewSealAtEveryStepOfAFirstIngest) {
  with_old = false;
  kill_at_every_step();
}

TEST_F(PublishKilled, NamesWhatCannotBeTidiedUpAndPublishesAllTheSame) {
  put_back_old_seal();
  test::fs::create_directories(model.path(".vouch/trees/a-folder/inside"));
  const auto wanted = seal::open_seal(model.beside("new"), std::nullopt, *test::engine());
  const auto report = model.ingest();
  ASSERT_TRUE(report);
  EXPECT_THAT(report->warnings, ::testing::Contains(::testing::HasSubstr("a-folder")));
  EXPECT_EQ(whole_seal(), new_digest);
}

}  // namespace
}  // namespace vouchfs::ingest
