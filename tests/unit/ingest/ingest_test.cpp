#include "ingest/ingest.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <thread>

#include "base/file.h"
#include "unit/ingest/model_folder.h"

namespace vouchfs::ingest {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using test::ModelFolder;

const std::string kManifest = ".vouch/manifest.json";

TEST(Ingest, SealsEveryFileAsTheToolsSeeIt) {
  const ModelFolder model;
  model.fill();
  const auto report = model.ingest();
  ASSERT_TRUE(report) << report.error().describe();
  const auto sealed = seal::open_seal(model.path(".vouch"), std::nullopt, *test::engine());
  ASSERT_TRUE(sealed) << sealed.error().describe();
  ASSERT_THAT(sealed->manifest.files, SizeIs(6));
  for (const seal::ManifestFile& file : sealed->manifest.files) {
    const std::string path = model.path(file.path);
    EXPECT_EQ(file.bytes, test::fs::file_size(path));
    EXPECT_EQ(hash::to_hex(file.sha256), test::first_word(test::run_tool({"sha256sum", path})));
    EXPECT_EQ(hash::to_hex(file.fsverity), test::first_word(test::run_tool({"fsverity", "digest", "--compact", "--out-merkle-tree=" + model.beside("tree"), path})));
    if (file.bytes > kBlockBytes) {
      EXPECT_EQ(test::read_text(model.path(".vouch/" + seal::tree_path(file.fsverity))), test::read_text(model.beside("tree"))) << file.path;
    }
  }
  EXPECT_EQ(hash::to_hex(report->model_digest), test::fsverity_of(model.path(kManifest)));
  EXPECT_EQ(report->files, 6U);
  EXPECT_EQ(report->tensors, 3U);
  EXPECT_THAT(report->warnings, IsEmpty());
}

TEST(Ingest, LeavesNothingInTheSealThatNoManifestNames) {
  const ModelFolder model;
  model.fill();
  ASSERT_TRUE(model.ingest());
  const std::vector<std::string> once = test::names_below(model.path(".vouch"));
  EXPECT_THAT(once, SizeIs(1 + 1 + 1 + 1 + 1 + 3)) << "manifest, provenance, two folders, one table, three trees";
  model.put_noise("sub/deep/vocab.txt", 90000, 99);
  ASSERT_TRUE(model.ingest());
  EXPECT_THAT(test::names_below(model.path(".vouch")), SizeIs(once.size()));
}

TEST(Ingest, GivesTheSameManifestWhereverAndWheneverAndWithAnyJobs) {
  const ModelFolder one;
  const ModelFolder two;
  one.fill();
  two.fill();
  test::fs::last_write_time(two.path("config.json"), test::fs::file_time_type::min());
  test::fs::permissions(two.path("empty.txt"), test::fs::perms::all);
  test::fs::rename(two.path("one-block.bin"), two.beside("blob"));
  test::fs::create_symlink("../blob", two.path("one-block.bin"));
  two.put(".git/HEAD", "left out");
  IngestOptions options = two.options();
  options.jobs = 7;
  const auto first = one.ingest();
  const auto second = two.ingest(options);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(one.get(kManifest), two.get(kManifest));
  EXPECT_EQ(first->model_digest, second->model_digest);
  EXPECT_THAT(second->left_out, ElementsAre(".git"));
  const auto again = one.ingest();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->model_digest, first->model_digest);
}

TEST(Ingest, WritesTheSealElsewhereAndTouchesNothingInTheModel) {
  const ModelFolder model;
  model.fill();
  const auto before = test::names_below(model.path());
  IngestOptions options = model.options();
  options.seal_dir = model.beside("seal");
  ASSERT_TRUE(model.ingest(options));
  EXPECT_EQ(test::names_below(model.path()), before);
  EXPECT_TRUE(test::fs::exists(model.beside("seal/manifest.json")));
  options.seal_dir = model.beside("no/parent");
  const auto refused = model.ingest(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
  EXPECT_FALSE(test::fs::exists(model.beside("no")));
}

TEST(Ingest, SealsABrokenHeaderAsBytesAndNamesIt) {
  const ModelFolder model;
  model.fill();
  test::fs::resize_file(model.path("model-00002-of-00002.safetensors"), 9000);
  const auto report = model.ingest();
  ASSERT_TRUE(report) << report.error().describe();
  EXPECT_THAT(report->warnings, ElementsAre(AllOf(HasSubstr("model-00002-of-00002.safetensors"), HasSubstr("MetadataIncompleteBuffer"))));
  EXPECT_EQ(report->files, 6U);
  EXPECT_EQ(report->tensors, 2U);
}

TEST(Ingest, WarnsOfAMissingShardAndOfAWrongIndex) {
  const ModelFolder model;
  model.put("model-00001-of-00003.safetensors", test::safetensors({{"a", 10}}));
  model.put("model-00003-of-00003.safetensors", test::safetensors({{"c", 10}}));
  model.put("model.safetensors.index.json",
            R"({"metadata":{"total_size":1},"weight_map":{"a":"model-00003-of-00003.safetensors","b":"model-00002-of-00003.safetensors","c":"model-00003-of-00003.safetensors"}})");
  const auto report = model.ingest();
  ASSERT_TRUE(report) << report.error().describe();
  EXPECT_THAT(report->warnings, ElementsAre(AllOf(HasSubstr("model.safetensors.index.json"), HasSubstr("wrong")), AllOf(HasSubstr("model-00002-of-00003.safetensors"), HasSubstr("missing"))));
}

TEST(IngestStrict, RefusesBrokenHeaderWrongIndexAndMissingShardAndPublishesNothing) {
  for (const int what : {0, 1, 2}) {
    const ModelFolder model;
    model.fill();
    if (what == 0) test::fs::resize_file(model.path("model-00002-of-00002.safetensors"), 9000);
    if (what == 1) model.put("model.safetensors.index.json", R"({"metadata":{},"weight_map":{"a":"model-00002-of-00002.safetensors"}})");
    if (what == 2) test::fs::remove(model.path("model-00002-of-00002.safetensors"));
    IngestOptions options = model.options();
    options.strict = true;
    const auto report = model.ingest(options);
    ASSERT_FALSE(report) << what;
    EXPECT_EQ(report.error().code, what == 2 ? ErrorCode::incomplete : ErrorCode::bad_format);
    EXPECT_THAT(report.error().where.file, HasSubstr(what == 1 ? "model.safetensors.index.json" : "model-00002-of-00002.safetensors"));
    EXPECT_FALSE(test::fs::exists(model.path(kManifest)));
    ASSERT_TRUE(model.ingest()) << "without --strict it is sealed";
  }
}

TEST(Ingest, RefusesNamesThatCollideInAView) {
  const ModelFolder model;
  model.put("index.json", "{}");
  EXPECT_TRUE(model.ingest());
  model.put("index.json.orig", "{}");
  const auto root = model.ingest();
  ASSERT_FALSE(root);
  EXPECT_THAT(root.error().describe(), AllOf(HasSubstr("index.json"), HasSubstr("index.json.orig")));

  const ModelFolder wrong;  // a wrong index is shown corrected, so that its own name is taken as well
  wrong.fill();
  wrong.put("model.safetensors.index.json", R"({"metadata":{},"weight_map":{"a":"model-00002-of-00002.safetensors"}})");
  wrong.put("model.safetensors.index.json.orig", "older");
  const auto collides = wrong.ingest();
  ASSERT_FALSE(collides);
  EXPECT_THAT(collides.error().describe(), HasSubstr("model.safetensors.index.json.orig"));
  EXPECT_FALSE(test::fs::exists(wrong.path(kManifest)));
}

TEST(Ingest, RefusesTwoAtATime) {
  const ModelFolder model;
  model.fill();
  ASSERT_TRUE(model.ingest());
  const UniqueFd other(::open(model.path(".vouch").c_str(), O_RDONLY | O_DIRECTORY));
  ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  const auto report = model.ingest();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::busy);
  EXPECT_EQ(report.error().where.file, model.path(".vouch"));
}

TEST(Ingest, NamesAModelThatIsNotThereOrIsAFile) {
  const ModelFolder model;
  IngestOptions options = model.options();
  options.model_dir = model.beside("gone");
  EXPECT_EQ(model.ingest(options).error().code, ErrorCode::not_found);
  model.put("file", "1");
  options.model_dir = model.path("file");
  const auto file = model.ingest(options);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().where.file, model.path("file"));
}

TEST(Ingest, AFileThatKeepsChangingIsNamedAndNothingIsPublished) {
  const ModelFolder model;
  model.put("small", "1");
  model.put("large.bin", "");
  test::fs::resize_file(model.path("large.bin"), 64U << 20);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    const UniqueFd fd(::open(model.path("large.bin").c_str(), O_WRONLY));
    for (std::uint64_t n = 0; !stop; ++n) {
      const auto byte = static_cast<std::uint8_t>(n);
      (void)write_full(fd.get(), n * 7919 % (64U << 20), {&byte, 1}, "large.bin");
    }
  });
  const auto report = model.ingest();
  stop = true;
  writer.join();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::changed);
  EXPECT_EQ(report.error().where.file, model.path("large.bin"));
  EXPECT_FALSE(test::fs::exists(model.path(kManifest)));
  const auto calm = model.ingest();
  ASSERT_TRUE(calm) << calm.error().describe();
  EXPECT_THAT(model.get(kManifest), HasSubstr(test::fsverity_of(model.path("large.bin"))));
}

TEST(Ingest, ARefusedModelKeepsNoTraceOfIngest) {
  const ModelFolder model;
  model.fill();
  test::fs::create_symlink("nowhere", model.path("dangling"));
  EXPECT_FALSE(model.ingest());
  EXPECT_FALSE(test::fs::exists(model.path(".vouch")));
}

TEST(IngestCheck, SaysWhatDiffersAndWritesNothing) {
  const ModelFolder model;
  model.fill();
  ASSERT_TRUE(model.ingest());
  IngestOptions options = model.options();
  options.check_only = true;
  const auto differences = [&] {
    const auto names = test::names_below(model.path());
    const std::string manifest = model.get(kManifest);
    const auto report = model.ingest(options);
    EXPECT_TRUE(report) << report.error().describe();
    EXPECT_EQ(test::names_below(model.path()), names);
    EXPECT_EQ(model.get(kManifest), manifest);
    std::vector<std::string> out;
    for (const SealDifference& difference : report ? report->differences : std::vector<SealDifference>{}) out.push_back(difference.path + ": " + difference.what);
    return out;
  };
  EXPECT_THAT(differences(), IsEmpty());
  const std::string vocabulary = model.get("sub/deep/vocab.txt");
  model.put_noise("sub/deep/vocab.txt", vocabulary.size(), 1234);
  EXPECT_THAT(differences(), ElementsAre("sub/deep/vocab.txt: changed: same size, other content"));
  model.put("sub/deep/vocab.txt", vocabulary);
  EXPECT_THAT(differences(), IsEmpty());
  model.put("new", "1");
  test::fs::remove(model.path("empty.txt"));
  model.put("config.json", "{}");
  EXPECT_THAT(differences(), ElementsAre("config.json: changed: 21 bytes sealed, 2 now", "empty.txt: missing", "new: not sealed"));
}

TEST(IngestCheck, SeesADamagedAndALostTree) {
  const ModelFolder model;
  model.fill();
  ASSERT_TRUE(model.ingest());
  IngestOptions options = model.options();
  options.check_only = true;
  const std::string tree = ".vouch/trees/" + test::fsverity_of(model.path("sub/deep/vocab.txt")) + ".tree";
  const std::string good = model.get(tree);
  std::string bad = good;
  bad[40] ^= 1;
  model.put(tree, bad);
  ASSERT_THAT(model.ingest(options)->differences, SizeIs(1));
  test::fs::remove(model.path(tree));
  ASSERT_THAT(model.ingest(options)->differences, SizeIs(1));
  ASSERT_TRUE(model.ingest()) << "an ingest mends it";
  EXPECT_EQ(model.get(tree), good);
}

TEST(IngestCheck, AModelWithoutASealIsNotFound) {
  const ModelFolder model;
  model.fill();
  IngestOptions options = model.options();
  options.check_only = true;
  EXPECT_EQ(model.ingest(options).error().code, ErrorCode::not_found);
}

// --- going on after an interruption ---------------------------------------------------------------------------------------

// Cancels an ingest when its first file is done, and makes the records old enough: a file just written would be read again.
void interrupt_after_one_file(const ModelFolder& model) {
  IngestProgress progress;
  CancelFlag cancel;
  IngestOptions options = model.options();
  options.jobs = 2;
  std::thread watcher([&] {
    while (progress.files_done == 0) std::this_thread::yield();
    cancel.request();
  });
  const auto report = ingest(options, test::engine(), progress, cancel);
  watcher.join();
  ASSERT_FALSE(report);
  ASSERT_EQ(report.error().code, ErrorCode::cancelled);
}

void age_records(const ModelFolder& model) {
  for (const std::string& name : test::names_below(model.path(".vouch/work"))) {
    if (name.find(".json") == std::string::npos) continue;
    std::string text = model.get(".vouch/work/" + name);
    text.at(text.find("\"started_ns\":") + 13) = '8';  // two centuries later
    model.put(".vouch/work/" + name, text);
  }
}

class IngestResume : public ::testing::Test {
 protected:
  // One small file that is done at once, and one that keeps a thread busy.
  void SetUp() override {
    model.put_noise("done.bin", 2U << 20);
    model.put("long.bin", "");
    test::fs::resize_file(model.path("long.bin"), 16ULL << 30);
    interrupt_after_one_file(model);
    test::fs::resize_file(model.path("long.bin"), 5000);
  }
  std::uint64_t resumed() const {
    const auto report = model.ingest();
    EXPECT_TRUE(report) << report.error().describe();
    const auto check = seal::open_seal(model.path(".vouch"), std::nullopt, *test::engine());
    EXPECT_TRUE(check);
    EXPECT_EQ(hash::to_hex(check->manifest.files.at(0).fsverity), test::fsverity_of(model.path("done.bin")));
    EXPECT_FALSE(test::fs::exists(model.path(".vouch/work")));
    return report ? report->resumed_files : 99;
  }
  ModelFolder model;
};

TEST_F(IngestResume, TakesOverAFinishedFile) {
  age_records(model);
  EXPECT_EQ(resumed(), 1U);
}

TEST_F(IngestResume, ReadsAFileAgainThatWasWrittenJustBeforeItWasRead) { EXPECT_EQ(resumed(), 0U); }

TEST_F(IngestResume, ReadsAFileAgainThatWasTouchedSince) {
  age_records(model);
  model.put_noise("done.bin", 2U << 20, 4711);
  EXPECT_EQ(resumed(), 0U);
}

TEST_F(IngestResume, ReadsAFileAgainWhoseTreeWasDamaged) {
  age_records(model);
  const std::string tree = ".vouch/work/" + test::fsverity_of(model.path("done.bin")) + ".tree";
  std::string bytes = model.get(tree);
  ASSERT_EQ(bytes.size(), 5 * kBlockBytes) << "a root and four leaf blocks";
  bytes[4 * kBlockBytes + 11] ^= 4;
  model.put(tree, bytes);
  EXPECT_EQ(resumed(), 0U);
  EXPECT_EQ(model.get(".vouch/trees/" + test::fsverity_of(model.path("done.bin")) + ".tree").size(), bytes.size());
}

TEST_F(IngestResume, ATornRecordIsAsGoodAsNone) {
  age_records(model);
  for (const std::string& name : test::names_below(model.path(".vouch/work")))
    if (name.find(".json") != std::string::npos) test::fs::resize_file(model.path(".vouch/work/" + name), 60);
  EXPECT_EQ(resumed(), 0U);
}

TEST(Inspect, ListsTensorsWithoutASeal) {
  const ModelFolder model;
  model.fill();
  const CancelFlag cancel;
  const auto table = inspect(model.path(), cancel);
  ASSERT_TRUE(table) << table.error().describe();
  ASSERT_THAT(table->files, SizeIs(2));
  EXPECT_EQ(table->files[0].tensors.at(1).name, "b");
  EXPECT_FALSE(test::fs::exists(model.path(".vouch")));
}

}  // namespace
}  // namespace vouchfs::ingest
